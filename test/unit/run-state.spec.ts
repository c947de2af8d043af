import { describe, expect, test } from 'vitest'
import { applyEntry } from '../../src/core/apply-entry.ts'
import { newRunState } from '../../src/core/run-state.ts'
import { stateDifference } from '../../src/core/state-difference.ts'
import { graphOf, policy } from '../support/core-facts.ts'

describe('the state of a run', () => {
  test('can not be made of a graph with a cycle: the circle is named', () => {
    expect(() => newRunState(graphOf({ a: ['b'], b: ['c'], c: ['a'], d: ['a'] }), 'run', policy()))
      .toThrow(expect.objectContaining({ code: 'OC_GRAPH_INVALID', message: 'graph: tasks depend on each other in a circle: a -> b -> c -> a' }))
  })

  test('of an empty graph is complete at once', () => {
    expect(newRunState({ tasks: [] }, 'run', policy()).counts.ready).toBe(0)
  })

  test.each([
    [{ kind: 'task-failed', task: 'nobody', reason: 'r' }, 'task "nobody" is not part of run run'],
    [{ kind: 'land-refused', task: 'a', attempt: 1, reason: 'red', message: 'm' }, 'entry land-refused names attempt 1 of task "a", which is not open'],
  ] as const)('refuses an entry that does not fit: %j', (entry, message) => {
    expect(() => applyEntry(newRunState(graphOf({ a: [] }), 'run', policy()), entry)).toThrow(expect.objectContaining({ code: 'OC_INTERNAL', message }))
  })

  test('is not changed by entries that only tell', () => {
    const state = newRunState(graphOf({ a: [] }), 'run', policy())
    applyEntry(state, { kind: 'warning', task: 'nobody', code: 'c', message: 'm' })
    applyEntry(state, { kind: 'pin-advanced', task: 'a', files: ['package.json'] })
    applyEntry(state, { kind: 'control-received', id: '1', command: 'stop', detail: '' })
    expect(stateDifference(state, newRunState(graphOf({ a: [] }), 'run', policy()))).toBeNull()
  })
})
