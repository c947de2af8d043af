import { describe, expect, it } from 'vitest'
import * as liveness from '../../src/executor/stream/liveness.ts'
import * as watchdog from '../../src/executor/watchdog/watchdog.ts'
import { outcomeOf, playSituation } from '../support/situation.ts'
import { SITUATIONS } from '../support/situations.ts'

const subject = { ...liveness, ...watchdog }

describe('R-64, R-65, R-104: the situation decides which clock runs', () => {
  it.each(SITUATIONS)('$name', situation => {
    expect(outcomeOf(playSituation(subject, situation))).toEqual(situation.expect)
  })
})

describe('the table of situations', () => {
  it('holds at least 30, with at least 15 in each direction, under names of their own', () => {
    const healthy = SITUATIONS.filter(situation => situation.expect === null).length
    expect({ enough: SITUATIONS.length >= 30, healthy: healthy >= 15, hanging: SITUATIONS.length - healthy >= 15 })
      .toEqual({ enough: true, healthy: true, hanging: true })
    expect(new Set(SITUATIONS.map(situation => situation.name)).size).toBe(SITUATIONS.length)
  })
})
