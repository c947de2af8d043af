/**
 * Plays a child's life against the watchdog in virtual time, the way a driver with one timer would: observe, check, sleep to the next deadline.
 * The watchdog comes as an argument, so that a changed copy of it can be played too.
 */
import type * as liveness from '../../src/executor/stream/liveness.ts'
import type * as watchdog from '../../src/executor/watchdog/watchdog.ts'
import type { Observation, WatchdogSettings } from '../../src/executor/watchdog/watchdog.ts'

export interface Subject {
  readonly decodeRecord: typeof liveness.decodeRecord
  readonly decodeStderrLine: typeof liveness.decodeStderrLine
  readonly newWatchdog: typeof watchdog.newWatchdog
  readonly observe: typeof watchdog.observe
  readonly check: typeof watchdog.check
  readonly nextDeadline: typeof watchdog.nextDeadline
}

export type Step =
  | { readonly at: number, readonly stdout: string }
  | { readonly at: number, readonly stderr: string }
  /** Only the head of the line was kept (F18). */
  | { readonly at: number, readonly oversize: string }
  | { readonly at: number, readonly observation: Observation }

export interface Life {
  readonly settings: WatchdogSettings
  /** In the order of time; `at` in ms. */
  readonly steps: readonly Step[]
  /** When the process is gone. */
  readonly exitAt: number
}

export interface Firing {
  readonly clock: string
  readonly at: number
  readonly situation: string
}

/** What fired first, or null when the child lived to its exit. */
export function watch(subject: Subject, life: Life): Firing | null {
  const state = subject.newWatchdog(life.settings, 0)
  for (const step of life.steps) {
    const fired = firedBefore(subject, state, Math.min(step.at, life.exitAt))
    if (fired !== null || step.at >= life.exitAt) return fired
    subject.observe(state, observationOf(subject, step), step.at)
    const now = subject.check(state, step.at)
    if (now !== null) return { ...now, at: step.at }
  }
  return firedBefore(subject, state, life.exitAt)
}

function firedBefore(subject: Subject, state: watchdog.WatchdogState, until: number): Firing | null {
  const deadline = subject.nextDeadline(state)
  if (deadline === null || deadline.at >= until) return null
  const fired = subject.check(state, deadline.at)
  return fired === null ? null : { ...fired, at: deadline.at }
}

function observationOf(subject: Subject, step: Step): Observation {
  if ('observation' in step) return step.observation
  if ('stderr' in step) return { kind: 'record', record: subject.decodeStderrLine({ text: step.stderr, oversize: false, bytes: step.stderr.length }) }
  const text = 'stdout' in step ? step.stdout : step.oversize
  const oversize = 'oversize' in step
  return { kind: 'record', record: subject.decodeRecord({ text, oversize, bytes: oversize ? 20_000_000 : text.length }) }
}
