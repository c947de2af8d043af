import { describe, expect, test } from 'vitest'
import type { LaunchReason } from '../../src/core/attempt-types.ts'
import { applyLaunchFact, newLaunches } from '../../src/core/launches.ts'
import { launchEnd, launchIntended } from '../support/core-facts.ts'

describe('the launches of an attempt (SEMANTICS 5)', () => {
  test.each<[LaunchReason, readonly number[]]>([
    ['first', [0, 0, 0, 0]],
    ['stalled', [1, 0, 0, 0]],
    ['overrun', [1, 0, 0, 0]],
    ['resume-refused', [0, 1, 0, 0]],
    ['engine-restart', [0, 0, 1, 0]],
    ['killed-externally', [0, 0, 0, 1]],
  ])('started for the reason %s count as stalled, fresh, engine and external: %j', (reason, counters) => {
    const attempt = newLaunches()
    applyLaunchFact(attempt, launchIntended(1, { reason }))
    expect([attempt.stalledRestarts, attempt.freshSessions, attempt.engineRelaunches, attempt.externalKills]).toEqual(counters)
  })

  test('are the fold of their facts; a first record forgives the engine relaunches', () => {
    const attempt = newLaunches()
    applyLaunchFact(attempt, launchIntended(1, { reason: 'engine-restart' }))
    applyLaunchFact(attempt, { kind: 'launch-live', launch: 1, keeper: null, child: null })
    applyLaunchFact(attempt, { kind: 'launch-adopted', launch: 1, child: null })
    applyLaunchFact(attempt, { kind: 'launch-first-record', launch: 1 })
    applyLaunchFact(attempt, { kind: 'launch-ended', launch: 1, end: launchEnd(), tree: 'tree' })
    applyLaunchFact(attempt, { kind: 'launch-swept', launch: 1, result: 'clean', ended: 2 })
    applyLaunchFact(attempt, { kind: 'launch-swept', launch: 9, result: 'tainted', ended: 0 })
    expect(attempt).toEqual({
      launches: [{
        launch: 1, mode: 'fresh', reason: 'engine-restart', sessionId: 's1', marker: 'm1', dir: 'l1',
        status: 'swept', keeper: null, child: null, adopted: 1, firstRecord: true, end: launchEnd(), tree: 'tree', swept: 'clean',
      }],
      stalledRestarts: 0, freshSessions: 0, engineRelaunches: 0, externalKills: 0,
    })
  })
})
