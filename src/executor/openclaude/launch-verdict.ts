/**
 * Names how a launch ended (DESIGN 5.4, OC 0.3 and 0.9). Pure: facts in, one kind out; what to do about it is the executor's.
 * A launch that succeeded has only said so: the judge decides about the work.
 */
import type { Clock, ExitFact, LaunchEnd, LaunchMode } from '../../core/attempt-types.ts'
import { assertNever } from '../../errors.ts'

export type LaunchVerdict =
  /** `support`: how the end of the process bears the result out. `ended-by-us`: settling or background, after a complete result. */
  | { readonly kind: 'succeeded', readonly support: 'exit-zero' | 'exit-unknown' | 'death-after-result' | 'ended-by-us' }
  | { readonly kind: 'agent-error', readonly reasons: readonly string[] }
  | { readonly kind: 'no-result' }
  | { readonly kind: 'result-oversize' }
  /** `--resume` was refused (T7), or the transcript is broken (F31): one fresh session may help. */
  | { readonly kind: 'refused-resume', readonly reason: 'unknown-session' | 'failed-at-once' }
  | { readonly kind: 'stalled', readonly clock: Clock }
  | { readonly kind: 'overrun' }
  | { readonly kind: 'permission-wait' }
  | { readonly kind: 'flooded' }
  /** Died by a signal that was not ours, without a complete result. */
  | { readonly kind: 'killed-externally', readonly signal: string }
  /** Nobody saw the exit and there is no complete result: nothing is known of its work. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'aborted' }

/** What `classifyLaunch` needs besides the end. */
export interface LaunchContext {
  readonly mode: LaunchMode
}

/** A resumed launch that wrote more, but failed faster than this at 0 turns, never got to work either (F31). */
const AT_ONCE_MS = 2_000
const NO_CONVERSATION = /no conversation found/i

export function classifyLaunch(end: LaunchEnd, context: LaunchContext): LaunchVerdict {
  if (end.endedBy !== null) return classifyEnded(end, end.endedBy)
  const faults = resultFaults(end)
  if (faults.length === 0) {
    if (!end.exit.known) return { kind: 'succeeded', support: 'exit-unknown' }
    if (end.exit.code === 0) return { kind: 'succeeded', support: 'exit-zero' }
    if (deathSignal(end.exit) !== null) return { kind: 'succeeded', support: 'death-after-result' }
  }
  if (!end.exit.known) return end.resultOversize ? { kind: 'result-oversize' } : { kind: 'lost' }
  const signal = deathSignal(end.exit)
  if (signal !== null && EXTERNAL_SIGNALS.has(signal)) return { kind: 'killed-externally', signal }
  const refused = context.mode === 'resume' ? refusal(end) : null
  if (refused !== null) return { kind: 'refused-resume', reason: refused }
  if (end.resultOversize) return { kind: 'result-oversize' }
  if (end.result === null) return { kind: 'no-result' }
  return { kind: 'agent-error', reasons: [...faults, ...(end.exit.code === 0 ? [] : [exitText(end.exit)])] }
}

/** The result record says success and nothing was left open (DESIGN 5.4), whatever the exit. */
export function isCompleteResult(end: LaunchEnd): boolean {
  return resultFaults(end).length === 0
}

/** What of DESIGN 5.4 the result does not keep; empty = success. Texts name facts, they quote nothing the model wrote. */
function resultFaults(end: LaunchEnd): readonly string[] {
  return [...reportFaults(end), ...(end.backgroundTasks > 0 ? [`${String(end.backgroundTasks)} background tasks still ran`] : [])]
}

function reportFaults(end: LaunchEnd): readonly string[] {
  const { result, openTools } = end
  if (result === null) return ['no result record']
  return [
    ...(result.subtype === 'success' ? [] : [`result ${result.subtype.replaceAll(/[^\w-]/g, '?').slice(0, 60) || '(without subtype)'}`]),
    ...(result.isError ? ['the result is marked as an error'] : []),
    ...(result.stopReason === 'tool_use' ? ['stopped in a tool call'] : []),
    ...(result.text.trim() === '' ? ['the final text is empty'] : []),
    ...(openTools.length === 0 ? [] : [`${String(openTools.length)} tool calls without a result`]),
  ]
}

/**
 * We ended it, so our reason stands, with one exception: a complete result read before the end took hold is kept, since nothing
 * that our signals make a child write is complete (OC 0.9). Background tasks are forgiven where their clock ended them.
 */
function classifyEnded(end: LaunchEnd, reason: NonNullable<LaunchEnd['endedBy']>): LaunchVerdict {
  switch (reason.kind) {
    case 'stop':
      return { kind: 'stopped' }
    case 'abort':
      return { kind: 'aborted' }
    case 'flooded':
      return { kind: 'flooded' }
    case 'keeper-bound':
      return isCompleteResult(end) ? { kind: 'succeeded', support: 'ended-by-us' } : { kind: 'overrun' }
    case 'clock':
      return classifyClock(end, reason.clock)
    default:
      return assertNever(reason)
  }
}

function classifyClock(end: LaunchEnd, clock: Clock): LaunchVerdict {
  switch (clock) {
    case 'settle':
    case 'background': {
      const faults = reportFaults(end)
      if (faults.length === 0) return { kind: 'succeeded', support: 'ended-by-us' }
      if (end.resultOversize) return { kind: 'result-oversize' }
      return end.result === null ? { kind: 'no-result' } : { kind: 'agent-error', reasons: faults }
    }
    case 'requires-action':
      return { kind: 'permission-wait' }
    case 'max-runtime':
      return isCompleteResult(end) ? { kind: 'succeeded', support: 'ended-by-us' } : { kind: 'overrun' }
    case 'first-event':
    case 'idle':
    case 'tool':
    case 'agent-tool':
    case 'retry-wait':
    case 'event-loop':
      return isCompleteResult(end) ? { kind: 'succeeded', support: 'ended-by-us' } : { kind: 'stalled', clock }
    default:
      return assertNever(clock)
  }
}

function refusal(end: LaunchEnd): 'unknown-session' | 'failed-at-once' | null {
  if (!end.exit.known || end.exit.code === 0) return null
  if ((end.result?.turns ?? 0) > 0 || end.resultOversize) return null
  // A refusal is told by a result record alone, without an init record; before there is a stream, on stderr.
  const unbegun = end.records <= (end.result === null ? 0 : 1)
  if (unbegun && [end.stderrTail, ...end.result?.errors ?? []].some(text => NO_CONVERSATION.test(text))) return 'unknown-session'
  return unbegun || end.durationMs < AT_ONCE_MS ? 'failed-at-once' : null
}

/** Signals that another program sends; the rest are crashes of the child itself. */
const EXTERNAL_SIGNALS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT'])
/** A program that handles a signal, or a shell around it, exits with 128 + its number: the CLI does for TERM and HUP (OC 3). */
const SIGNAL_OF_CODE: Readonly<Record<number, string>> = {
  129: 'SIGHUP', 130: 'SIGINT', 134: 'SIGABRT', 137: 'SIGKILL', 139: 'SIGSEGV', 143: 'SIGTERM',
}

function deathSignal(exit: Extract<ExitFact, { known: true }>): string | null {
  return exit.signal ?? (exit.code === null ? null : SIGNAL_OF_CODE[exit.code] ?? null)
}

function exitText(exit: Extract<ExitFact, { known: true }>): string {
  return exit.signal === null ? `exit code ${String(exit.code)}` : `died by ${exit.signal}`
}
