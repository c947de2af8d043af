/**
 * The watchdog: observations of one child in, "this clock has run out" out. Pure and deterministic.
 * Liveness is not progress: heartbeats, noise and raw bytes start no window anew. Ending the child is the caller's work.
 *
 * A caller observes ticks right before each `check`, and sets one timer to `nextDeadline`.
 */
import type { Clock } from '../../core/attempt-types.ts'
import { assertNever } from '../../errors.ts'
import { MISSED_HEARTBEATS } from './settings.ts'
import { seconds, situationOf } from './situation.ts'
import type { WatchdogState } from './state.ts'

export { newWatchdog, observe } from './state.ts'
export type { Observation, WatchdogState } from './state.ts'
export type { WatchdogSettings } from './settings.ts'

export interface Deadline {
  /** Monotonic ms. */
  readonly at: number
  readonly clock: Clock
}

export interface Fired {
  readonly clock: Clock
  /** One sentence for people; names the last phase and tool. Holds nothing the child wrote but those names. */
  readonly situation: string
}

/** The earliest instant at which `check` fires unless something is observed before; null when every clock that could run is off. */
export function nextDeadline(state: WatchdogState): Deadline | null {
  const running = [requiresAction(state), ofSituation(state), eventLoop(state), maxRuntime(state)].filter(deadline => deadline !== null)
  return running.reduce<Deadline | null>((first, next) => (first === null || next.at < first.at ? next : first), null)
}

/** The clock that has run out at `at`, the earliest when there are several; null while the child may go on. */
export function check(state: WatchdogState, at: number): Fired | null {
  const deadline = nextDeadline(state)
  if (deadline === null || deadline.at > at) return null
  return { clock: deadline.clock, situation: describe(state, deadline.clock, at) }
}

function ofSituation(state: WatchdogState): Deadline | null {
  const { clock, since, limitMs } = situationOf(state)
  return limitMs === null ? null : { clock, at: since + limitMs }
}

function requiresAction(state: WatchdogState): Deadline | null {
  const { permission } = state
  return permission === null || permission.reported ? null : { clock: 'requires-action', at: permission.since }
}

/**
 * No sign of life for three intervals after the first heartbeat, and the tree's CPU time stood still for the last two of them, while
 * beats were missing.
 * Without a fresh reading of the CPU time nothing is claimed. A child stopped by a signal is not dead, and after a result settling decides.
 */
function eventLoop(state: WatchdogState): Deadline | null {
  const { cpu, settings: { heartbeatMs } } = state
  if (heartbeatMs === null || !state.heartbeatSeen || cpu === null || state.stopped || state.turnEnded) return null
  const at = Math.max(state.signAt + MISSED_HEARTBEATS * heartbeatMs, cpu.since + (MISSED_HEARTBEATS - 1) * heartbeatMs)
  return cpu.until >= at - heartbeatMs ? { clock: 'event-loop', at } : null
}

function maxRuntime(state: WatchdogState): Deadline | null {
  const { maxRuntimeMs } = state.settings
  return maxRuntimeMs > 0 && !state.overrunReported ? { clock: 'max-runtime', at: state.startedAt + maxRuntimeMs } : null
}

function describe(state: WatchdogState, clock: Clock, at: number): string {
  const stopped = state.stopped ? ', stopped by a signal' : ''
  const context = `last phase ${state.phase ?? 'none'}, last tool ${state.work.lastTool ?? 'none'}${stopped}`
  switch (clock) {
    case 'requires-action':
      return `The child asked for a permission that nobody can give (${context}).`
    case 'event-loop':
      return `The child gave no heartbeat for ${seconds(at - state.signAt)} and its processes used no CPU time (${context}).`
    case 'max-runtime':
      return `The launch ran for ${seconds(at - state.startedAt)}, longer than it may (${context}).`
    case 'first-event':
    case 'idle':
    case 'tool':
    case 'agent-tool':
    case 'retry-wait':
    case 'background':
    case 'settle': {
      const { since, doing } = situationOf(state)
      return `No progress for ${seconds(at - since)} while the child ${doing} (${context}).`
    }
    default:
      return assertNever(clock)
  }
}
