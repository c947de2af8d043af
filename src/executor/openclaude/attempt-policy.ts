/**
 * What follows after a launch of an agent: another launch of the same attempt, or the end of the attempt (SEMANTICS 4 and 5). Pure.
 * A request of the owner (stop, abort) is not its business: then there is no next launch to decide about.
 */
import type { AttemptLaunches, LaunchEnd, LaunchMode, LaunchReason, LaunchState, OutcomeKind } from '../../core/attempt-types.ts'
import { assertNever } from '../../errors.ts'
import { isCompleteResult, type LaunchVerdict } from './launch-verdict.ts'

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
 * @param verdict on the last launch; null when it has no end.
 */
export function decideNext(launches: AttemptLaunches, verdict: LaunchVerdict | null, settings: PolicySettings): NextStep {
  const last = launches.launches.at(-1)
  if (last === undefined) return { kind: 'relaunch', mode: 'fresh', reason: 'first', sessionId: null }
  if (last.swept === 'tainted') return end('tainted')
  if (last.end === null || verdict === null) return engineRestart(launches, last, settings)
  switch (verdict.kind) {
    case 'succeeded':
    case 'agent-error':
    case 'no-result':
    case 'result-oversize':
    case 'permission-wait':
    case 'flooded':
    case 'aborted':
      return end(verdict.kind)
    case 'stalled':
      // No record came, so no session is known to exist: the next one begins anew.
      return withinBound(launches, last, settings, 'stalled', verdict.clock === 'first-event' ? FRESH : sameSession(last, settings))
    case 'overrun':
      return withinBound(launches, last, settings, 'overrun', sameSession(last, settings))
    case 'refused-resume':
      return launches.freshSessions >= FRESH_SESSIONS ? end('agent-error') : { kind: 'relaunch', reason: 'resume-refused', ...FRESH }
    case 'killed-externally':
      if (launches.externalKills >= EXTERNAL_KILLS) return end('killed-externally')
      return { kind: 'relaunch', reason: 'killed-externally', ...sameSession(last, settings) }
    case 'lost':
      return engineRestart(launches, last, settings)
    case 'stopped':
      // The engine that stopped it is gone and this one goes on; unless the work had been reported just then.
      return isCompleteResult(last.end) ? end('succeeded') : engineRestart(launches, last, settings)
    default:
      return assertNever(verdict)
  }
}

type Session = Pick<Extract<NextStep, { kind: 'relaunch' }>, 'mode' | 'sessionId'>

const FRESH: Session = { mode: 'fresh', sessionId: null }

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

function engineRestart(launches: AttemptLaunches, last: LaunchState, settings: PolicySettings): NextStep {
  if (launches.engineRelaunches >= ENGINE_RELAUNCHES) return end('relaunch-limit')
  return { kind: 'relaunch', reason: 'engine-restart', ...sameSession(last, settings) }
}

/** A session exists once a record of it was read, in this launch or in an earlier one of the same session. */
function sameSession(last: LaunchState, settings: PolicySettings): Session {
  const stored = last.mode === 'resume' || last.firstRecord
  return settings.canResume && stored ? { mode: 'resume', sessionId: last.sessionId } : FRESH
}

function end(outcome: OutcomeKind): NextStep {
  return { kind: 'end', outcome }
}
