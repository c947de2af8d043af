/**
 * Builds the outcome of an attempt from its launches: every fact in a field of its own, and one sentence for people.
 * Pure. Texts of the child must have been redacted before they came into the launches.
 */
import type {
  AttemptOutcome, ChildReport, ExitFact, LaunchEnd, LaunchState, OutcomeKind, SpawnFailure,
} from '../core/attempt-types.ts'
import { addUsage, NO_USAGE } from '../core/usage.ts'
import { assertNever } from '../errors.ts'

export interface OutcomeFacts {
  readonly kind: OutcomeKind
  readonly launches: readonly LaunchState[]
  readonly spawnFailure: SpawnFailure | null
  readonly report: ChildReport
  /** Start of the sentence, for example `OpenClaude` or `The command`. */
  readonly subject: string
  /** Command that continues a session by hand; null where there are no sessions. */
  readonly resumeCommand: ((sessionId: string) => string) | null
}

/** Longest stderr tail that leaves a launch (R-69). */
export const STDERR_TAIL_CHARS = 2000

export function attemptOutcome(facts: OutcomeFacts): AttemptOutcome {
  const { kind, launches, spawnFailure, report } = facts
  const ends = launches.flatMap(launch => launch.end === null ? [] : [launch.end])
  const last = launches.at(-1)
  const lastEnd = ends.at(-1) ?? null
  return {
    kind,
    message: outcomeMessage(facts, lastEnd),
    launches: launches.length,
    sessionId: last === undefined || last.sessionId === '' ? null : last.sessionId,
    exit: lastEnd?.exit ?? null,
    clock: clockOf(lastEnd),
    lastPhase: lastEnd?.lastPhase ?? null,
    lastTool: lastEnd?.lastTool ?? null,
    spawnFailure,
    result: lastEnd?.result ?? null,
    report,
    usage: ends.map(end => end.usage).reduce(addUsage, NO_USAGE),
    costUsd: ends.reduce((sum, end) => sum + end.costUsd, 0),
    model: ends.findLast(end => end.model !== null)?.model ?? null,
    stderrTail: lastEnd?.stderrTail ?? '',
    durationMs: ends.reduce((sum, end) => sum + end.durationMs, 0),
  }
}

function clockOf(end: LaunchEnd | null): AttemptOutcome['clock'] {
  if (end?.endedBy?.kind === 'clock') return end.endedBy.clock
  return end?.endedBy?.kind === 'keeper-bound' ? 'max-runtime' : null
}

function outcomeMessage({ kind, launches, spawnFailure, subject, resumeCommand }: OutcomeFacts, end: LaunchEnd | null): string {
  const what = sentence(kind, subject, end, spawnFailure)
  if (kind === 'succeeded' || kind === 'spawn-failed') return `${what}.`
  const details = [`${launches.length} ${launches.length === 1 ? 'launch' : 'launches'}`]
  if (end !== null && resumeCommand !== null) details.push(`last heartbeat phase ${end.lastPhase ?? 'none'}`)
  if (end !== null && end.lastTool !== null) details.push(`last tool ${end.lastTool}`)
  // A launch that wrote no record left no session to look at.
  const last = launches.at(-1)
  const session = last !== undefined && (last.mode === 'resume' || (end?.records ?? 0) > 0) ? last.sessionId : ''
  if (session !== '' && resumeCommand !== null) details.push(`session ${session}, to look at it: ${resumeCommand(session)}`)
  return `${what}; ${details.join('; ')}.`
}

function sentence(kind: OutcomeKind, subject: string, end: LaunchEnd | null, spawnFailure: SpawnFailure | null): string {
  switch (kind) {
    case 'succeeded': return `${subject} reported success (${exitText(end?.exit)})`
    case 'agent-error': return `${subject} ended with an error (${[exitText(end?.exit), resultText(end)].filter(text => text !== '').join(', ')})`
    case 'no-result': return `${subject} ended without a result (${exitText(end?.exit)})`
    case 'result-oversize': return `${subject} gave a result too long to be read (${exitText(end?.exit)})`
    case 'stalled': return `${subject} made no progress and was ended by the ${clockOf(end) ?? 'unknown'} clock`
    case 'overrun': return `${subject} ran longer than its limit and was ended`
    case 'permission-wait': return `${subject} asked for a permission that nobody can give and was ended; allow it in permissionMode or in the prompt`
    case 'flooded': return `${subject} printed more than the output limit and was ended`
    case 'killed-externally': return `${subject} was killed by SIGKILL that was not ours, perhaps for lack of memory`
    case 'tainted': return `${subject} left processes behind that could not be ended`
    case 'spawn-failed': return `${subject} could not be started: ${(spawnFailure?.message ?? 'unknown reason').replace(/\.$/, '')}`
    case 'relaunch-limit': return `${subject} was lost with its engine again and again without anything new; a person must decide`
    case 'stopped': return `${subject} was ended because the engine stops; the attempt goes on when the run is resumed`
    case 'aborted': return `${subject} was ended because the run was aborted`
    default: return assertNever(kind)
  }
}

function exitText(exit: ExitFact | undefined): string {
  if (exit === undefined || !exit.known) return 'exit unknown'
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`
}

/** Names the kind of the reported error, not its text: that is the child's own and stays in its field. */
function resultText(end: LaunchEnd | null): string {
  const result = end?.result ?? null
  if (result === null) return ''
  return `result ${result.subtype}${result.isError ? ' with is_error' : ''}${result.stopReason === null ? '' : `, stop reason ${result.stopReason}`}`
}
