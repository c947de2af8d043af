import { describe, expect, it } from 'vitest'
import { PACE_MS, Pacemaker, suspensionBetween, type Instant } from '../../src/executor/watchdog/pacemaker.ts'

const at = (monoMs: number, bootMs = monoMs): Instant => ({ monoMs, bootMs })

describe('pacemaker (SEMANTICS 13)', () => {
  it('tells sleep from a pause of the program, and neither from lateness', () => {
    expect([
      suspensionBetween(at(0), at(PACE_MS)),
      suspensionBetween(at(0), at(2.9 * PACE_MS)),
      suspensionBetween(at(0), at(4000)),
      suspensionBetween(at(0), at(PACE_MS, PACE_MS + 60_000)),
      suspensionBetween(at(0, 5), at(PACE_MS, PACE_MS + 1000)),
    ]).toEqual([null, null, { why: 'pause', gapMs: 4000 }, { why: 'sleep', gapMs: 60_000 }, null])
  })

  it('tells its listeners once per gap, also when asked before its own tick', () => {
    let now = at(0)
    const pacemaker = new Pacemaker(() => now)
    const seen: string[] = []
    const forget = pacemaker.listen(({ why }) => seen.push(why))
    now = at(10_000)
    pacemaker.look()
    pacemaker.look()
    forget()
    now = at(50_000)
    pacemaker.look()
    expect(seen).toEqual(['pause'])
  })
})
