import { describe, expect, test } from 'vitest'
import { summarizeRun, summarizeTask } from '../../src/core/summary.ts'
import { graphOf, outcome, verdict } from '../support/core-facts.ts'
import { startWorld } from '../support/core-world.ts'

describe('the summary of a run', () => {
  test('counts, names root causes and how much each one blocks', () => {
    const run = startWorld(graphOf({ a: [], b: ['a'], c: ['b'], d: [] }), { script: { outcome: task => outcome(task === 'a' ? 'permission-wait' : 'succeeded') } })
    run.run()
    expect(summarizeRun(run.state)).toEqual({
      run: 'run',
      status: 'finished',
      result: { kind: 'incomplete' },
      counts: { pending: 0, blocked: 2, ready: 0, active: 0, landing: 0, accepted: 1, split: 0, failed: 0, escalated: 1, cancelled: 0 },
      total: 4,
      costUsd: 0.5,
      tokens: 30,
      rootCauses: [{ task: 'a', status: 'escalated', reason: 'outcome permission-wait', handoff: 'h1', blocks: 2 }],
    })
    expect(run.state.tasks.map(task => summarizeTask(run.state, task))).toEqual([
      { id: 'a', title: 'Title of a', status: 'escalated', phase: null, attempt: 1, attempts: 1, attemptLimit: 3, launches: 1, reason: 'outcome permission-wait', causes: [] },
      { id: 'b', title: 'Title of b', status: 'blocked', phase: null, attempt: 0, attempts: 0, attemptLimit: 3, launches: 0, reason: '', causes: ['a'] },
      { id: 'c', title: 'Title of c', status: 'blocked', phase: null, attempt: 0, attempts: 0, attemptLimit: 3, launches: 0, reason: '', causes: ['a'] },
      { id: 'd', title: 'Title of d', status: 'accepted', phase: null, attempt: 1, attempts: 1, attemptLimit: 3, launches: 1, reason: '', causes: [] },
    ])
  })

  test('shows the phase of a task under way, why one is tried again, and who cancelled one', () => {
    const run = startWorld(graphOf({ a: [], b: [] }), { policy: { maxConcurrency: 1 }, script: { verdict: () => verdict('rejected') } })
    run.run(effect => effect.kind === 'execute' && effect.task === 'b')
    const reasons = (): readonly unknown[] => run.state.tasks.map(task => summarizeTask(run.state, task)).map(({ status, phase, reason }) => [status, phase, reason])
    expect(reasons()).toEqual([['ready', null, 'retry: verdict rejected'], ['active', 'executing', '']])
    run.send({ type: 'control', id: '1', by: 'me', command: { kind: 'abort' } })
    expect(reasons()).toEqual([['cancelled', null, 'cancelled by me'], ['active', 'executing', '']])
  })
})
