import { expect, test } from 'vitest'
import type { Entry } from '../../../src/core/entry-types.ts'
import { evidence, launchEnd, launchIntended, outcome, verdict } from '../../support/core-facts.ts'
import { historyFaults } from '../../support/history-checker.ts'

const of = { task: 'a', attempt: 1 } as const
const intended = (launch: number): Entry => ({ ...launchIntended(launch), ...of } as Entry)
const sound: readonly Entry[] = [
  { kind: 'run-created', run: 'r', tasks: 1, graphSha256: 'x' },
  { kind: 'engine-started', pid: 1, host: 'h', version: '0' },
  { kind: 'attempt-started', ...of, attemptKind: 'first', freshTree: false },
  intended(1),
  { kind: 'launch-live', ...of, launch: 1, keeper: null, child: null },
  { kind: 'launch-ended', ...of, launch: 1, end: launchEnd(), tree: 't' },
  { kind: 'launch-swept', ...of, launch: 1, result: 'clean', ended: 0 },
  { kind: 'attempt-ended', ...of, outcome: outcome('succeeded'), counted: true },
  { kind: 'check-evidence', ...of, evidence: evidence('test', 'passed') },
  { kind: 'verdict', ...of, verdict: verdict('verified') },
  { kind: 'landed', ...of, commit: null },
  { kind: 'task-accepted', ...of, evidence: ['test-key'], commit: null },
  { kind: 'run-finished', result: { kind: 'complete' } },
  { kind: 'engine-stopped', reason: 'done' },
]

/** One engine writes everything; `engine-started` begins the next one. */
function faultsOf(entries: readonly Entry[]): readonly string[] {
  let engine = 1
  return historyFaults(entries.map((entry, index) => {
    if (entry.kind === 'engine-started' && index > 1) engine += 1
    return { header: { v: 1, seq: index + 1, at: '', mono: 0, engine, prev: '' }, entry, offset: 0 }
  }))
}

const replaced = (kind: Entry['kind'], ...by: readonly Entry[]): readonly Entry[] => sound.flatMap(entry => (entry.kind === kind ? by : [entry]))
const started: Entry = { kind: 'engine-started', pid: 2, host: 'h', version: '0' }

test('a whole run without a fault has none', () => expect(faultsOf(sound)).toEqual([]))

test('a launch that the next engine adopts is sound; adopted by its own engine it is not', () => {
  const adopted: Entry = { kind: 'launch-adopted', ...of, launch: 1, child: null }
  expect(faultsOf([...sound.slice(0, 5), started, adopted, ...sound.slice(5)])).toEqual([])
  expect(faultsOf([...sound.slice(0, 5), adopted, ...sound.slice(5)])).toEqual(['6 launch-adopted: adopted by the engine that owns it'])
})

test.each<[string, readonly Entry[], readonly string[]]>([
  ['two live owners of one attempt', [...sound.slice(0, 5), intended(2), ...sound.slice(5, 7)], ['6 launch-intended: launch 1/1 (live) is still open: two live owners']],
  ['a second launch before the first was swept', [...sound.slice(0, 6), intended(2)], ['7 launch-intended: launch 1/1 (ended) is still open: two live owners']],
  ['a launch that ended twice', [...sound.slice(0, 6), ...sound.slice(5, 7)], ['7 launch-ended: launch 1 is ended']],
  ['a launch nobody intended', replaced('launch-intended'), ['4 launch-live: launch 1 was never intended', '5 launch-ended: launch 1 was never intended', '6 launch-swept: launch 1 was never intended']],
  ['an attempt that ended over an open launch', replaced('launch-swept'), ['7 attempt-ended: launch 1 is still ended', '12 run-finished: launch 1/1 (ended) of task a is still open']],
  ['an accepted task that is tried again', [...sound.slice(0, 12), { kind: 'attempt-started', task: 'a', attempt: 2, attemptKind: 'retry', freshTree: false }], ['13 attempt-started: the task was accepted before']],
  ['an accepted task that is lost', [...sound.slice(0, 12), { kind: 'task-failed', task: 'a', reason: 'x' }], ['13 task-failed: an accepted task was lost']],
  ['a verdict whose evidence was never recorded', replaced('check-evidence'), ['9 verdict: evidence test-key was never recorded']],
  ['a verdict without evidence', replaced('verdict', { kind: 'verdict', ...of, verdict: verdict('verified', { evidence: [], reason: '' }) }),
    ['10 verdict: neither evidence nor a reason', '10 verdict: verified without evidence']],
  ['acceptance of rejected work', replaced('verdict', { kind: 'verdict', ...of, verdict: verdict('rejected') }), ['12 task-accepted: its verdict is rejected and no person accepted it']],
  ['acceptance of work that never landed', replaced('landed'), ['11 task-accepted: its work has not landed']],
  ['an attempt number that is skipped', replaced('attempt-started', { kind: 'attempt-started', task: 'a', attempt: 2, attemptKind: 'retry', freshTree: false }).slice(0, 3), ['3 attempt-started: attempt 2 follows attempt 0']],
  ['a second attempt beside the first', [...sound.slice(0, 3), { kind: 'attempt-started', task: 'a', attempt: 2, attemptKind: 'retry', freshTree: false }], ['4 attempt-started: attempt 1 has not ended']],
  ['a run that is complete without its task', replaced('task-accepted'), ['12 run-finished: task a is not accepted']],
  ['work after the end of the run', [...sound.slice(0, 13), { kind: 'attempt-started', task: 'b', attempt: 1, attemptKind: 'first', freshTree: false }], ['14 attempt-started: the run had finished']],
  ['an engine that writes after it stopped', [...sound, { kind: 'task-unblocked', task: 'b' }], ['15 task-unblocked: an engine that has stopped goes on writing']],
])('it finds %s', (_, entries, faults) => expect(faultsOf(entries)).toEqual(faults))
