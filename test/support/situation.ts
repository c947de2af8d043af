/** One life of a child and what the watchdog must make of it, and the words such lives are written in. Times are seconds. */
import type { WatchdogSettings } from '../../src/executor/watchdog/settings.ts'
import * as says from './child-lines.ts'
import { DEFAULT_CLOCKS } from './default-clocks.ts'
import { watch, type Firing, type Step, type Subject } from './watch.ts'

export interface Situation {
  readonly name: string
  readonly settings?: Partial<WatchdogSettings>
  readonly steps: readonly Step[]
  readonly exit: number
  readonly expect: { readonly clock: string, readonly at: number } | null
}

export function playSituation(subject: Subject, situation: Situation): Firing | null {
  return watch(subject, {
    settings: { ...DEFAULT_CLOCKS, ...situation.settings },
    steps: situation.steps.toSorted((a, b) => a.at - b.at),
    exitAt: situation.exit * 1000,
  })
}

/** The clock and second of a firing, to compare with `expect`. */
export function outcomeOf(fired: Firing | null): Situation['expect'] {
  return fired === null ? null : { clock: fired.clock, at: fired.at / 1000 }
}

export const NEVER = 100_000

export const at = (second: number, stdout: string): Step => ({ at: second * 1000, stdout })
export const err = (second: number, stderr: string): Step => ({ at: second * 1000, stderr })
export const big = (second: number, oversize: string): Step => ({ at: second * 1000, oversize })
export const every = (from: number, to: number, period: number, step: (second: number) => Step): readonly Step[] =>
  Array.from({ length: Math.floor((to - from) / period) + 1 }, (_, index) => step(from + index * period))
/** Beats in quiet from `quietSince` on: the first one interval later, as the CLI does. */
export const beats = (quietSince: number, to: number, fields: Parameters<typeof says.beat>[1] = {}): readonly Step[] =>
  every(quietSince + 30, to, 30, second => at(second, says.beat((second - quietSince) * 1000, fields)))
export const cpu = (from: number, to: number, ticks: (second: number) => number | null, stopped = false): readonly Step[] =>
  every(from, to, 5, second => ({ at: second * 1000, observation: { kind: 'ticks', cpuTicks: ticks(second), stopped } }))
export const rearm = (second: number): Step => ({ at: second * 1000, observation: { kind: 're-arm', why: 'suspended' } })

export const STILL = (): number => 700
export const BUSY = (second: number): number => 700 + second * 90
