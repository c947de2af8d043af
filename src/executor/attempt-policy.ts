/**
 * What follows after a launch of an agent: another launch of the same attempt, or the end of the attempt (SEMANTICS 4 and 5). Pure.
 * A request of the owner (stop, abort) is not its business: then there is no next launch to decide about.
 */
import type { AttemptLaunches, Clock, LaunchEnd, LaunchMode, LaunchReason, LaunchState, OutcomeKind } from '../core/attempt-types.ts'
import { assertNever } from '../errors.ts'

/** What the records and the exit of the last launch say, apart from who ended it. */
export type LaunchClass = 'success' | 'resume-refused' | 'agent-error' | 'no-result' | 'result-oversize'

export interface PolicySettings {
  readonly maxStalledRestarts: number
  /** Sessions are stored, so that `--resume` can work. */
  readonly canResume: boolean
}

export type NextStep =
  | {
    readonly kind: 'relaunch'
    /** `fresh` always means a new session id. */
    readonly mode: LaunchMode
    readonly reason: LaunchReason
    /** Set when mode is `resume`. */
    readonly sessionId: string | null
  }
  | { readonly kind: 'end', readonly outcome: OutcomeKind }

const ENGINE_RELAUNCHES = 3
const EXTERNAL_KILLS = 1
const FRESH_SESSIONS = 1

/**
 * @param launches fold of all facts so far; the last launch has ended (or was never started) and was swept.
 * @param classOfLast class of the last launch; ignored when it has no end.
 */
export function decideNext(launches: AttemptLaunches, classOfLast: LaunchClass, settings: PolicySettings): NextStep {
  const last = launches.launches.at(-1)
  if (last === undefined) return { kind: 'relaunch', mode: 'fresh', reason: 'first', sessionId: null }
  if (last.swept === 'tainted') return end('tainted')
  if (last.end === null) return engineRestart(launches, last, settings)
  const { endedBy, exit } = last.end
  if (endedBy !== null) {
    switch (endedBy.kind) {
      case 'flooded': return end('flooded')
      case 'abort': return end('aborted')
      // The engine that stopped it is gone; this one goes on with the attempt, unless the work was already reported.
      case 'stop': return classOfLast === 'success' ? end('succeeded') : engineRestart(launches, last, settings)
      // The keeper's own bound on the run time fired, because no engine was there to do it.
      case 'keeper-bound': return afterClock(launches, last, 'max-runtime', classOfLast, settings)
      case 'clock': return afterClock(launches, last, endedBy.clock, classOfLast, settings)
      default: return assertNever(endedBy)
    }
  }
  switch (classOfLast) {
    case 'success':
      return end('succeeded')
    case 'resume-refused':
      if (launches.freshSessions >= FRESH_SESSIONS) return end('agent-error')
      return { kind: 'relaunch', mode: 'fresh', reason: 'resume-refused', sessionId: null }
    case 'agent-error':
    case 'no-result':
    case 'result-oversize':
      if (!exit.known && classOfLast === 'no-result') return engineRestart(launches, last, settings)
      if (exit.known && exit.signal === 'SIGKILL') return afterExternalKill(launches, last, settings)
      return end(classOfLast)
    default:
      return assertNever(classOfLast)
  }
}

function afterClock(launches: AttemptLaunches, last: LaunchState, clock: Clock, classOfLast: LaunchClass, settings: PolicySettings): NextStep {
  switch (clock) {
    case 'requires-action':
      return end('permission-wait')
    case 'background':
    case 'settle':
      return end(classOfLast === 'success' ? 'succeeded' : classOfLast === 'resume-refused' ? 'agent-error' : classOfLast)
    case 'first-event':
      return withinBound(launches, last, settings, 'stalled', { mode: 'fresh', sessionId: null })
    case 'max-runtime':
      // The final result was there; only the process had not left.
      if (classOfLast === 'success') return end('succeeded')
      return withinBound(launches, last, settings, 'overrun', sameSession(last, settings))
    case 'idle':
    case 'tool':
    case 'agent-tool':
    case 'retry-wait':
    case 'event-loop':
      return withinBound(launches, last, settings, 'stalled', sameSession(last, settings))
    default:
      return assertNever(clock)
  }
}

type Session = Pick<Extract<NextStep, { kind: 'relaunch' }>, 'mode' | 'sessionId'>

function withinBound(launches: AttemptLaunches, last: LaunchState, settings: PolicySettings, reason: 'stalled' | 'overrun', session: Session): NextStep {
  if (launches.stalledRestarts >= settings.maxStalledRestarts) return end(reason)
  const previous = launches.launches.findLast(launch => launch !== last && isStall(launch.end))
  if (previous !== undefined && equalStalls(previous, last)) return end(reason)
  return { kind: 'relaunch', reason, ...session }
}

function isStall(end: LaunchEnd | null): boolean {
  return end?.endedBy?.kind === 'clock' || end?.endedBy?.kind === 'keeper-bound'
}

/** Two launches that stopped at the same place with nothing new in the tree: a third would do the same. */
function equalStalls(a: LaunchState, b: LaunchState): boolean {
  return a.tree === b.tree && stallKey(a.end) === stallKey(b.end)
}

function stallKey(of: LaunchEnd | null): string {
  return JSON.stringify([of?.endedBy, of?.lastPhase, of?.lastTool])
}

function afterExternalKill(launches: AttemptLaunches, last: LaunchState, settings: PolicySettings): NextStep {
  if (launches.externalKills >= EXTERNAL_KILLS) return end('killed-externally')
  return { kind: 'relaunch', reason: 'killed-externally', ...sameSession(last, settings) }
}

function engineRestart(launches: AttemptLaunches, last: LaunchState, settings: PolicySettings): NextStep {
  if (launches.engineRelaunches >= ENGINE_RELAUNCHES) return end('relaunch-limit')
  return { kind: 'relaunch', reason: 'engine-restart', ...sameSession(last, settings) }
}

/** A session exists once a record of it was read, in this launch or in an earlier one of the same session. */
function sameSession(last: LaunchState, settings: PolicySettings): Session {
  const stored = last.mode === 'resume' || last.firstRecord
  return settings.canResume && stored ? { mode: 'resume', sessionId: last.sessionId } : { mode: 'fresh', sessionId: null }
}

function end(outcome: OutcomeKind): NextStep {
  return { kind: 'end', outcome }
}
