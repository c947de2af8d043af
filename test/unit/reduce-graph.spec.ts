import { describe, expect, test } from 'vitest'
import type { Graph } from '../../src/core/graph-types.ts'
import { graphOf, outcome, policy, spec, verdict } from '../support/core-facts.ts'
import { kindsOf, startOrder, startWorld, statuses } from '../support/core-world.ts'

const DIAMOND = graphOf({ a: [], b: ['a'], c: ['a'], d: ['a'], e: ['b', 'c', 'd'] })
const rejected = (): ReturnType<typeof verdict> => verdict('rejected')

describe('a graph', () => {
  test('of five tasks in a diamond completes in full, each task once and after its dependencies (R-54, R-92)', () => {
    const run = startWorld(DIAMOND)
    run.run()
    expect(statuses(run)).toEqual({ a: 'accepted', b: 'accepted', c: 'accepted', d: 'accepted', e: 'accepted' })
    expect(startOrder(run)).toEqual(['a/1', 'b/1', 'c/1', 'd/1', 'e/1'])
    expect(run.state.result).toEqual({ kind: 'complete' })
    expect(run.settles).toBe(1)
  })

  test('writes the entries of an accepted task in the order of SEMANTICS 4 and 6', () => {
    const run = startWorld(graphOf({ a: [] }))
    run.run()
    expect(run.entries.map(entry => entry.kind)).toEqual([
      'run-created', 'engine-started', 'attempt-started', 'workspace-intended', 'workspace-ready',
      'launch-intended', 'launch-live', 'launch-first-record', 'launch-ended', 'launch-swept', 'attempt-ended',
      'check-evidence', 'verdict', 'decision', 'land-intended', 'landed', 'task-accepted', 'run-finished',
    ])
  })

  test('starts by priority, then by the longer remaining path, then by its own order (R-52, R-54)', () => {
    const graph: Graph = {
      tasks: [spec('plain'), spec('head'), spec('tail', ['head']), spec('urgent', [], { priority: 5 }), spec('late', [], { priority: -1 }), spec('also')],
    }
    const run = startWorld(graph, { policy: { maxConcurrency: 1 } })
    run.run()
    expect(startOrder(run)).toEqual(['urgent/1', 'head/1', 'plain/1', 'tail/1', 'also/1', 'late/1'])
  })

  test('keeps at most maxConcurrency tasks preparing or executing, and judging frees the slot (R-27)', () => {
    const run = startWorld(graphOf({ a: [], b: [], c: [], d: [] }))
    expect(run.pending).toEqual(['a', 'b'].map(task => ({ kind: 'prepare-workspace', task, attempt: 1 })))
    run.run(effect => effect.kind === 'judge')
    expect(startOrder(run)).toEqual(['a/1', 'b/1', 'c/1', 'd/1'])
    expect(run.state.counts.active).toBe(4)
    expect(run.state.executing).toBe(2)
  })

  test('blocks what waits for a failed task at once and by its root, runs the rest, and ends incomplete (T13, R-54)', () => {
    const run = startWorld(graphOf({ a: [], b: ['a'], c: ['b'], d: [] }), {
      policy: { maxRetriesPerTask: 1 },
      script: { verdict: task => verdict(task === 'a' ? 'rejected' : 'verified') },
    })
    run.run()
    expect(statuses(run)).toEqual({ a: 'escalated', b: 'blocked', c: 'blocked', d: 'accepted' })
    expect(run.state.tasks.map(task => task.state.status === 'blocked' ? task.state.causes : null)).toEqual([null, ['a'], ['a'], null])
    expect(run.state.result).toEqual({ kind: 'incomplete' })
    const blocked = run.entries.findIndex(entry => entry.kind === 'task-blocked')
    expect(run.entries[blocked - 1]?.kind).toBe('handoff-opened')
  })

  test('goes on without edits after a person retried the failed task (T13)', () => {
    let healthy = false
    const run = startWorld(graphOf({ a: [], b: ['a'], c: ['b'], d: [] }), {
      policy: { maxRetriesPerTask: 1 },
      script: { verdict: task => verdict(task === 'a' && !healthy ? 'rejected' : 'verified') },
    })
    run.run()
    healthy = true
    const entries = run.send({ type: 'control', id: '1', by: 'me', command: { kind: 'retry', task: 'a', guidance: 'mind the gap' } })
    expect(entries.map(entry => entry.kind)).toEqual([
      'control-received', 'run-reopened', 'handoff-answered', 'task-unblocked', 'task-unblocked', 'attempt-started', 'workspace-intended',
    ])
    run.run()
    expect(statuses(run)).toEqual({ a: 'accepted', b: 'accepted', c: 'accepted', d: 'accepted' })
    expect(run.state.result).toEqual({ kind: 'complete' })
    expect(run.settles).toBe(2)
  })

  test('gives an always failing task exactly maxRetriesPerTask attempts, the first included (R-28)', () => {
    const run = startWorld(graphOf({ a: [] }), { script: { verdict: rejected } })
    run.run()
    expect(startOrder(run)).toEqual(['a/1', 'a/2', 'a/3'])
    expect(kindsOf(run, 'a').filter(kind => kind === 'handoff-opened')).toHaveLength(1)
  })

  test('takes maxAttempts of the task instead, where it is given', () => {
    const run = startWorld({ tasks: [spec('a', [], { maxAttempts: 2 })] }, { script: { verdict: rejected } })
    run.run()
    expect(startOrder(run)).toEqual(['a/1', 'a/2'])
  })

  test('halts after the same spawn failure three times in a row, names the failure, and calls nothing done (T14)', () => {
    const run = startWorld(graphOf({ a: [], b: [], c: [], d: [], e: [] }), { script: { outcome: () => outcome('spawn-failed') } })
    run.run()
    expect(run.state.result).toEqual({
      kind: 'halted', reason: 'breaker', message: 'The executor could not be started 3 times in a row: openclaude is not on PATH (/bin)',
    })
    expect(run.state.counts.accepted).toBe(0)
    expect(run.entries.filter(entry => entry.kind === 'attempt-ended').length).toBeLessThanOrEqual(3 + policy().maxConcurrency)
    expect(run.state.tasks.every(task => task.attempts === 0)).toBe(true)
    expect(run.settles).toBe(1)
  })
})
