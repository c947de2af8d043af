/** The plain progress lines: one entry of the journal as one line for a person, or nothing when it tells a person nothing. */
import { assertNever } from '../errors.ts'
import type { AttemptOutcome, LaunchFact } from '../core/attempt-types.ts'
import type { Entry, RunResult } from '../core/entry-types.ts'
import type { Decision } from '../core/evidence-types.ts'
import { formatDuration } from '../report/duration.ts'
import { printableLine } from '../report/printable.ts'

const WIDTH = 160

/** Null = not worth a line. */
export function entryLine(entry: Entry): string | null {
  const text = lineOf(entry)
  return text === null ? null : printableLine(text, WIDTH)
}

function lineOf(entry: Entry): string | null {
  switch (entry.kind) {
    case 'run-created':
      return `run ${entry.run}: ${entry.tasks} task${entry.tasks === 1 ? '' : 's'}`
    case 'run-reopened':
      return `run reopened by ${entry.by}: ${entry.reason}`
    case 'run-finished':
      return `run finished: ${renderResult(entry.result)}`
    case 'engine-stopping':
      return `stopping: ${entry.reason}`
    case 'engine-stopped':
      return entry.reason === 'finished' ? null : `stopped: ${entry.reason}`
    case 'engine-suspended':
      return `the machine slept or the engine paused for ${formatDuration(entry.gapMs)}; every clock starts anew`
    case 'task-blocked':
      return `${entry.task}: blocked by ${entry.causes.join(', ')}`
    case 'task-unblocked':
      return `${entry.task}: no longer blocked`
    case 'task-split':
      return `${entry.task}: split into ${entry.children.map(child => child.id).join(', ')}`
    case 'task-cancelled':
      return `${entry.task}: cancelled by ${entry.by}`
    case 'task-failed':
      return `${entry.task}: failed, ${entry.reason}`
    case 'task-accepted':
      return `${entry.task}: accepted${entry.note === undefined ? '' : ` (${entry.note})`}`
    case 'handoff-opened':
      return `${entry.task}: needs a decision (${entry.handoff}): ${entry.reason}`
    case 'handoff-answered':
      return `${entry.task}: ${entry.by} answered ${entry.answer}${entry.note === '' ? '' : `: ${entry.note}`}`
    case 'attempt-started':
      return `${entry.task}: attempt ${entry.attempt} (${entry.attemptKind})`
    case 'attempt-ended':
      return `${entry.task}: attempt ${entry.attempt} ${renderOutcome(entry.outcome)}`
    case 'check-evidence':
      // A check that has nothing to run says so in the plan and in the report.
      if (entry.evidence.grade === 'skipped') return null
      return `${entry.task}: ${entry.evidence.check} ${entry.evidence.grade}${entry.evidence.cached ? ' (known from before)' : ` in ${formatDuration(entry.evidence.durationMs)}`}`
    case 'verdict':
      return `${entry.task}: ${entry.verdict.kind}, ${entry.verdict.reason}`
    case 'decision':
      // The policy's reason is the verdict, which has its own line.
      return `${entry.task}: ${entry.by} decided ${entry.by === 'policy' ? entry.decision.kind : renderDecision(entry.decision)}`
    case 'advice':
      return entry.result === 'decided' ? null : `${entry.task}: advice ${entry.result}, ${entry.reason}`
    case 'patch-applied':
      return `${entry.task}: patch ${entry.result}${entry.reason === '' ? '' : `, ${entry.reason}`}`
    case 'land-refused':
      return `${entry.task}: landing refused, ${entry.message}`
    case 'control-received':
      return `received: ${entry.command} ${entry.detail}`
    case 'warning':
      return `${entry.task === undefined ? '' : `${entry.task}: `}warning, ${entry.message}`
    case 'engine-started':
    case 'workspace-intended':
    case 'workspace-ready':
    case 'patch-intended':
    case 'land-intended':
    case 'landed':
      return null
    case 'attempt-suspended':
      return `${entry.task}: attempt ${entry.attempt} waits for the next engine`
    case 'pin-advanced':
      return `${entry.task}: brought checks that count from now on: ${entry.checks.join(', ')}`
    case 'launch-intended':
    case 'launch-live':
    case 'launch-adopted':
    case 'launch-first-record':
    case 'launch-ended':
    case 'launch-swept':
    case 'launch-spawn-failed':
      return launchLine(entry.task, entry)
    default:
      return assertNever(entry)
  }
}

function launchLine(task: string, fact: LaunchFact): string | null {
  switch (fact.kind) {
    case 'launch-intended':
      return fact.launch === 1 ? null : `${task}: launch ${fact.launch} (${fact.mode}, ${fact.reason})${fact.reason === 'resume-refused' ? ', the history of its session is lost' : ''}`
    case 'launch-adopted':
      return `${task}: launch ${fact.launch} adopted, it was still running`
    case 'launch-ended':
      return fact.end.endedBy?.kind === 'clock' ? `${task}: launch ${fact.launch} ended by the ${fact.end.endedBy.clock} clock` : null
    case 'launch-swept':
      return fact.result === 'tainted' ? `${task}: launch ${fact.launch} left processes that could not be ended` : null
    case 'launch-spawn-failed':
      return `${task}: could not start, ${fact.failure.message}`
    case 'launch-live':
    case 'launch-first-record':
    case 'warning':
      return null
    default:
      return assertNever(fact)
  }
}

function renderOutcome(outcome: AttemptOutcome): string {
  const took = formatDuration(outcome.durationMs)
  return outcome.kind === 'succeeded' ? `reported done after ${took}` : `ended as ${outcome.kind} after ${took}: ${outcome.message}`
}

function renderDecision(decision: Decision): string {
  return `${decision.kind}${decision.reason === '' ? '' : ` (${decision.reason})`}`
}

export function renderResult(result: RunResult): string {
  switch (result.kind) {
    case 'complete':
    case 'incomplete':
      return result.kind
    case 'aborted':
      return `aborted by ${result.by}`
    case 'halted':
      return `halted (${result.reason}): ${result.message}`
    default:
      return assertNever(result)
  }
}
