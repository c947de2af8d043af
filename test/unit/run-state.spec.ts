import { describe, expect, test } from 'vitest'
import { applyEntry } from '../../src/core/apply-entry.ts'
import { runPolicy } from '../../src/core/run-policy.ts'
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
    applyEntry(state, { kind: 'pin-advanced', task: 'a', checks: ['test'] })
    applyEntry(state, { kind: 'control-received', id: '1', command: 'stop', detail: '' })
    expect(stateDifference(state, newRunState(graphOf({ a: [] }), 'run', policy()))).toBeNull()
  })
})

describe('the policy of a run', () => {
  const config = {
    maxConcurrency: 2, maxRetriesPerTask: 3, maxReworks: 2, maxSupervisionRounds: 5, acceptUnverified: true,
    supervisorEnabled: true, supervisor: 'openclaude', workspace: 'shared', maxBudgetUsd: 0, maxBudgetTokens: 0,
  } as const

  test('has no budget where the configuration says 0, and the fixed limits of SEMANTICS 5', () => {
    expect(runPolicy(config, ['openclaude'])).toEqual(policy({ acceptUnverified: true, supervised: true, sharedTree: true }))
  })

  test('is supervised only when the advisor is on and there is one (R-40)', () => {
    expect([runPolicy({ ...config, supervisorEnabled: false }, []).supervised, runPolicy({ ...config, supervisor: 'none' }, []).supervised]).toEqual([false, false])
  })

  test('takes budgets over', () => {
    const { maxBudgetUsd, maxBudgetTokens } = runPolicy({ ...config, maxBudgetUsd: 1.5, maxBudgetTokens: 9 }, [])
    expect([maxBudgetUsd, maxBudgetTokens]).toEqual([1.5, 9])
  })
})
