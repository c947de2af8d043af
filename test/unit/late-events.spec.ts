/** Every moment of a task against every event about an attempt: handled as listed, or late. */
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/core/run-types.ts'
import { evidence, graphOf, launchEnd, launchIntended, outcome, spec, verdict } from '../support/core-facts.ts'
import type { World } from '../support/core-world.ts'
import { startWorld } from '../support/core-world.ts'

type AttemptEvent = Extract<RunEvent, { readonly task: string, readonly attempt: number }>

const ref = { task: 'a', attempt: 1 }
const EVENTS: Readonly<Record<string, AttemptEvent>> = {
  'workspace-ready': { type: 'workspace-ready', ...ref, path: '/w', workspace: 'shared', tree: 't' },
  'workspace-failed': { type: 'workspace-failed', ...ref, message: 'gone' },
  'launch-intended 1': { type: 'launch-fact', ...ref, fact: launchIntended(1) },
  'launch-intended 2': { type: 'launch-fact', ...ref, fact: launchIntended(2) },
  'launch-live 1': { type: 'launch-fact', ...ref, fact: { kind: 'launch-live', launch: 1, keeper: null, child: null } },
  'launch-adopted 1': { type: 'launch-fact', ...ref, fact: { kind: 'launch-adopted', launch: 1, child: null } },
  'launch-first-record 1': { type: 'launch-fact', ...ref, fact: { kind: 'launch-first-record', launch: 1 } },
  'launch-ended 1': { type: 'launch-fact', ...ref, fact: { kind: 'launch-ended', launch: 1, end: launchEnd(), tree: null } },
  'launch-swept 1': { type: 'launch-fact', ...ref, fact: { kind: 'launch-swept', launch: 1, result: 'clean', ended: 0 } },
  'launch-spawn-failed 1': { type: 'launch-fact', ...ref, fact: { kind: 'launch-spawn-failed', launch: 1, failure: { reason: 'keeper', message: 'm', key: 'k' } } },
  'launch warning 1': { type: 'launch-fact', ...ref, fact: { kind: 'warning', launch: 1, code: 'drift', message: 'm' } },
  'outcome succeeded': { type: 'attempt-outcome', ...ref, outcome: outcome('succeeded') },
  'outcome stopped': { type: 'attempt-outcome', ...ref, outcome: outcome('stopped') },
  'outcome aborted': { type: 'attempt-outcome', ...ref, outcome: outcome('aborted') },
  evidence: { type: 'evidence', ...ref, evidence: evidence('test', 'passed') },
  judged: { type: 'judged', ...ref, verdict: verdict('verified') },
  'advised 1': { type: 'advised', ...ref, round: 1, advice: { kind: 'unavailable', reason: 'u' } },
  'advised 2': { type: 'advised', ...ref, round: 2, advice: { kind: 'unavailable', reason: 'u' } },
  'patch-planned 1': { type: 'patch-planned', ...ref, round: 1, before: 'b', after: null, file: 'f' },
  'patched applied': { type: 'patched', ...ref, round: 1, result: 'applied', reason: '', tree: 't' },
  'patched refused': { type: 'patched', ...ref, round: 1, result: 'refused', reason: '', tree: 't' },
  landed: { type: 'landed', ...ref, commit: null },
  'land-refused': { type: 'land-refused', ...ref, reason: 'conflict', message: 'm' },
}

/** A world in which task `a` of the graph a <- b has reached the moment. */
const control = (run: World, command: Extract<RunEvent, { type: 'control' }>['command']): void => {
  run.send({ type: 'control', id: '1', by: 'me', command })
}
const PATCH = { kind: 'decided', askFile: null, answerFile: null, decision: { kind: 'patch', reason: 'r', edits: [{ path: 'f', content: '' }] } } as const
const started = (): World => startWorld(graphOf({ a: [], b: ['a'] }))
const upTo = (kind: string, run: World = started()): World => {
  run.run(effect => effect.kind === kind)
  return run
}
const advising = (): World => upTo('advise', startWorld(graphOf({ a: [], b: ['a'] }), { policy: { supervised: true }, script: { verdict: () => verdict('rejected'), advice: () => PATCH } }))
const launched = (...names: readonly string[]): World => {
  const run = upTo('execute')
  for (const name of names) run.send(EVENTS[name] ?? { type: 'warning', code: 'x', message: name })
  return run
}

const MOMENTS: Readonly<Record<string, { readonly make: () => World, readonly handled: Readonly<Record<string, string>> }>> = {
  'blocked': {
    make: () => {
      const run = startWorld({ tasks: [spec('a', ['z']), spec('z')] }, { script: { outcome: () => outcome('permission-wait') } })
      run.run()
      return run
    },
    handled: {},
  },
  'pending': { make: () => startWorld({ tasks: [spec('a', ['z']), spec('z')] }), handled: {} },
  'ready': { make: () => startWorld({ tasks: [spec('a'), spec('z', [], { priority: 1 })] }, { policy: { maxConcurrency: 1 } }), handled: {} },
  'preparing': {
    make: started,
    handled: { 'workspace-ready': 'workspace-ready > execute', 'workspace-failed': 'attempt-ended attempt-started workspace-intended > prepare-workspace' },
  },
  'preparing, suspended by a stop': {
    make: () => {
      const run = started()
      run.send({ type: 'stop', reason: 'signal' })
      return run
    },
    handled: { 'workspace-ready': 'workspace-ready' },
  },
  'executing, before a launch': {
    make: () => launched(),
    handled: {
      'launch-intended 1': 'launch-intended', 'launch warning 1': 'warning',
      'outcome succeeded': 'attempt-ended > judge', 'outcome stopped': ' > execute', 'outcome aborted': 'attempt-ended task-cancelled task-blocked run-finished > settle',
    },
  },
  'executing, launch intended': {
    make: () => launched('launch-intended 1'),
    handled: {
      'launch-intended 2': 'launch-intended', 'launch-live 1': 'launch-live', 'launch-adopted 1': 'launch-adopted', 'launch-first-record 1': 'launch-first-record',
      'launch-ended 1': 'launch-ended', 'launch-swept 1': 'launch-swept', 'launch-spawn-failed 1': 'launch-spawn-failed', 'launch warning 1': 'warning',
      'outcome succeeded': 'attempt-ended > judge', 'outcome stopped': ' > execute', 'outcome aborted': 'attempt-ended task-cancelled task-blocked run-finished > settle',
    },
  },
  'executing, launch ended': {
    make: () => launched('launch-intended 1', 'launch-live 1', 'launch-first-record 1', 'launch-ended 1'),
    handled: {
      'launch-intended 2': 'launch-intended', 'launch-swept 1': 'launch-swept', 'launch-spawn-failed 1': 'launch-spawn-failed', 'launch warning 1': 'warning',
      'outcome succeeded': 'attempt-ended > judge', 'outcome stopped': ' > execute', 'outcome aborted': 'attempt-ended task-cancelled task-blocked run-finished > settle',
    },
  },
  'executing, second launch': {
    make: () => launched('launch-intended 1', 'launch-ended 1', 'launch-swept 1', 'launch-intended 2'),
    handled: {
      'launch warning 1': 'warning',
      'outcome succeeded': 'attempt-ended > judge', 'outcome stopped': ' > execute', 'outcome aborted': 'attempt-ended task-cancelled task-blocked run-finished > settle',
    },
  },
  'executing, stop asked for': {
    make: () => {
      const run = launched('launch-intended 1')
      run.send({ type: 'stop', reason: 'signal' })
      return run
    },
    handled: {
      'launch-intended 2': 'launch-intended', 'launch-live 1': 'launch-live', 'launch-adopted 1': 'launch-adopted', 'launch-first-record 1': 'launch-first-record',
      'launch-ended 1': 'launch-ended', 'launch-swept 1': 'launch-swept', 'launch-spawn-failed 1': 'launch-spawn-failed', 'launch warning 1': 'warning',
      'outcome succeeded': 'attempt-ended > settle', 'outcome stopped': 'attempt-suspended > settle', 'outcome aborted': 'attempt-ended > settle',
    },
  },
  'executing, run aborted': {
    make: () => {
      const run = launched('launch-intended 1', 'launch-ended 1', 'launch-swept 1')
      control(run, { kind: 'abort' })
      return run
    },
    handled: {
      'launch-intended 2': 'launch-intended', 'launch-first-record 1': 'launch-first-record', 'launch warning 1': 'warning',
      'outcome succeeded': 'attempt-ended task-cancelled > settle', 'outcome stopped': 'attempt-ended task-cancelled > settle', 'outcome aborted': 'attempt-ended task-cancelled > settle',
    },
  },
  'executing, suspended': {
    make: () => {
      const run = launched('launch-intended 1')
      run.send({ type: 'stop', reason: 'signal' })
      run.send({ type: 'attempt-outcome', ...ref, outcome: outcome('stopped') })
      return run
    },
    handled: {},
  },
  'judging': {
    make: () => upTo('judge'),
    handled: { evidence: 'check-evidence', judged: 'verdict decision land-intended > land' },
  },
  'deciding, advisor asked': { make: advising, handled: { 'advised 1': 'advice decision attempt-started workspace-intended > prepare-workspace' } },
  'deciding, patch decided': {
    make: () => upTo('plan-patch', advising()),
    handled: { 'patch-planned 1': 'patch-intended > apply-patch', 'patched refused': 'patch-applied > advise' },
  },
  'deciding, patch intended': {
    make: () => upTo('apply-patch', advising()),
    handled: { 'patched applied': 'patch-applied > judge', 'patched refused': 'patch-applied > advise' },
  },
  'landing': {
    make: () => upTo('land'),
    handled: {
      landed: 'landed task-accepted attempt-started workspace-intended > prepare-workspace',
      'land-refused': 'land-refused attempt-started workspace-intended > prepare-workspace',
    },
  },
  'landing, run aborted': {
    make: () => {
      const run = upTo('land')
      control(run, { kind: 'abort' })
      return run
    },
    handled: { landed: 'landed task-accepted', 'land-refused': 'land-refused task-cancelled' },
  },
  'accepted': {
    make: () => {
      const run = started()
      run.run()
      return run
    },
    handled: {},
  },
  'split': {
    make: () => {
      const run = startWorld(graphOf({ a: [] }), {
        policy: { supervised: true },
        script: { verdict: () => verdict('rejected'), advice: () => ({ kind: 'decided', askFile: null, answerFile: null, decision: { kind: 'split', reason: 'r', tasks: [spec('c')] } }) },
      })
      run.run(effect => effect.kind !== 'end-attempts' && effect.kind !== 'settle' && effect.task === 'c')
      return run
    },
    handled: {},
  },
  'escalated': {
    make: () => {
      const run = startWorld(graphOf({ a: [] }), { script: { outcome: () => outcome('permission-wait') } })
      run.run()
      return run
    },
    handled: {},
  },
  'failed': {
    make: () => {
      const run = startWorld(graphOf({ a: [] }), { script: { outcome: () => outcome('permission-wait') } })
      run.run()
      control(run, { kind: 'answer', task: 'a', answer: 'drop', note: 'no' })
      return run
    },
    handled: {},
  },
  'cancelled': {
    make: () => {
      const run = started()
      control(run, { kind: 'abort' })
      return run
    },
    handled: {},
  },
}

describe.each(Object.entries(MOMENTS))('an event of an attempt when the task is %s', (_, { make, handled }) => {
  test('is handled or late by a named rule', () => {
    const seen = Object.fromEntries(Object.entries(EVENTS).map(([name, event]) => {
      const run = make()
      run.pending.splice(0)
      const settles = run.settles
      const entries = run.send(event)
      const first = entries[0]
      if (entries.length === 1 && first?.kind === 'warning' && first.code === 'late-event') return [name, 'late']
      const effects = [...run.pending.map(effect => effect.kind), ...run.settles > settles ? ['settle'] : []]
      return [name, [entries.map(entry => entry.kind).join(' '), ...effects.length === 0 ? [] : [effects.join(' ')]].join(' > ')]
    }))
    expect(seen).toEqual({ ...Object.fromEntries(Object.keys(EVENTS).map(name => [name, 'late'])), ...handled })
  })

  test('is late when it belongs to an older attempt, or to a task the run does not have', () => {
    const run = make()
    const before = JSON.stringify(run.state.tasks)
    for (const event of Object.values(EVENTS)) {
      for (const other of [{ ...event, attempt: 0 }, { ...event, task: 'nobody' }]) {
        expect(run.send(other)).toMatchObject([{ kind: 'warning', code: 'late-event', task: other.task, attempt: other.attempt }])
      }
    }
    expect(JSON.stringify(run.state.tasks)).toBe(before)
  })
})
