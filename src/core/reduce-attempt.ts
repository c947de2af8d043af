/**
 * Events of an attempt under way: workspace, launches, outcome, evidence, verdict, advice, patch, landing.
 * Facts are always recorded; what follows from them is asked for only while the run is `running`.
 */
import { assertNever } from '../errors.ts'
import type { AttemptOutcome, LaunchFact } from './attempt-types.ts'
import type { AttemptState, RunEvent, TaskState } from './run-types.ts'
import { legality } from './policy.ts'
import { isLate } from './late-events.ts'
import { cancel, conclude, concludeByPolicy, decide, escalateSpent, ref } from './reduce-decision.ts'
import { landAttempt, reduceLanded } from './reduce-landing.ts'
import { handOffIfSpent } from './reduce-schedule.ts'
import { openAttempt } from './run-state.ts'
import type { Turn } from './turn.ts'
import { ask, emit, finish, warn } from './turn.ts'

export type AttemptEvent = Extract<RunEvent, { readonly task: string, readonly attempt: number }>
type Of<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

export function reduceAttempt(turn: Turn, event: AttemptEvent): void {
  const task = turn.state.byId.get(event.task)
  const attempt = task === undefined ? null : openAttempt(task)
  if (task === undefined || attempt === null || isLate(task, attempt, event)) {
    warn(turn, 'late-event', `${event.type} for attempt ${event.attempt} of task "${event.task}" came when it was not expected any more.`, about(event))
    return
  }
  switch (event.type) {
    case 'workspace-ready':
      workspaceReady(turn, task, attempt, event)
      return
    case 'workspace-failed':
      ended(turn, task, attempt, unprepared(event.message))
      return
    case 'launch-fact':
      launchFact(turn, event)
      return
    case 'attempt-outcome':
      ended(turn, task, attempt, event.outcome)
      return
    case 'evidence':
      emit(turn, { kind: 'check-evidence', ...ref(task, attempt), evidence: event.evidence })
      return
    case 'judged':
      emit(turn, { kind: 'verdict', ...ref(task, attempt), verdict: event.verdict })
      goOn(turn, task)
      return
    case 'advised':
      advised(turn, task, attempt, event)
      return
    case 'patch-planned': {
      const { round, before, after, file } = event
      emit(turn, { kind: 'patch-intended', ...ref(task, attempt), round, before, after, file })
      goOn(turn, task)
      return
    }
    case 'patched':
      patched(turn, task, attempt, event)
      return
    case 'landed':
      reduceLanded(turn, task, attempt, event)
      return
    case 'land-refused':
      emit(turn, { kind: 'land-refused', ...ref(task, attempt), reason: event.reason, message: event.message })
      if (abortedBy(turn) === null) handOffIfSpent(turn, task)
      else closeAborted(turn, task)
      return
    default:
      assertNever(event)
  }
}

/** Asks for the next effect of an open attempt, whatever its phase. The same call serves the normal way and recovery. */
export function goOn(turn: Turn, task: TaskState): void {
  const attempt = openAttempt(task)
  if (attempt === null || turn.state.status !== 'running') return
  if (task.state.status === 'landing') {
    landAttempt(turn, task, attempt)
    return
  }
  switch (attempt.phase) {
    case 'preparing':
      ask(turn, { kind: 'prepare-workspace', ...ref(task, attempt) })
      return
    case 'executing':
      ask(turn, { kind: 'execute', ...ref(task, attempt) })
      return
    case 'judging':
      ask(turn, { kind: 'judge', ...ref(task, attempt) })
      return
    case 'deciding':
      decide(turn, task)
      return
    default:
      assertNever(attempt.phase)
  }
}

function workspaceReady(turn: Turn, task: TaskState, attempt: AttemptState, event: Of<'workspace-ready'>): void {
  emit(turn, { kind: 'workspace-ready', ...ref(task, attempt), path: event.path, workspace: event.workspace, tree: event.tree })
  goOn(turn, task)
}

function launchFact(turn: Turn, event: Of<'launch-fact'>): void {
  const fact: LaunchFact = event.fact
  emit(turn, { ...fact, task: event.task, attempt: event.attempt })
}

function ended(turn: Turn, task: TaskState, attempt: AttemptState, outcome: AttemptOutcome): void {
  if (outcome.kind === 'stopped' && abortedBy(turn) === null) {
    if (turn.state.status === 'running') goOn(turn, task)
    else emit(turn, { kind: 'attempt-suspended', ...ref(task, attempt) })
    return
  }
  const counted = outcome.kind !== 'spawn-failed' && attempt.kind !== 'rework'
  emit(turn, { kind: 'attempt-ended', ...ref(task, attempt), outcome, counted })
  if (abortedBy(turn) !== null) closeAborted(turn, task)
  else if (outcome.kind === 'spawn-failed') spawnFailed(turn, task, outcome)
  else goOn(turn, task)
}

function spawnFailed(turn: Turn, task: TaskState, outcome: AttemptOutcome): void {
  const { state } = turn
  if (state.status !== 'running') return
  if (state.breaker.count >= state.policy.breakerLimit) {
    const message = `The executor could not be started ${state.breaker.count} times in a row: ${outcome.spawnFailure?.message ?? outcome.message}`
    finish(turn, { kind: 'halted', reason: 'breaker', message })
  } else {
    handOffIfSpent(turn, task)
  }
}

function advised(turn: Turn, task: TaskState, attempt: AttemptState, event: Of<'advised'>): void {
  const { advice, round } = event
  const files = advice.kind === 'unavailable' ? { askFile: null, answerFile: null } : { askFile: advice.askFile, answerFile: advice.answerFile }
  const about = { kind: 'advice', ...ref(task, attempt), round, ...files } as const
  if (advice.kind !== 'decided') {
    emit(turn, { ...about, result: advice.kind, reason: advice.reason })
    if (turn.state.status !== 'running') return
    if (advice.kind === 'unavailable') concludeByPolicy(turn, task, attempt)
    else conclude(turn, task, attempt, 'policy', { kind: 'escalate', reason: `The advisor's answer could not be read. ${advice.reason}` })
    return
  }
  const check = legality(advice.decision, turn.state, task)
  emit(turn, { ...about, result: check.legal ? 'decided' : 'illegal', reason: check.legal ? advice.decision.reason : check.reason })
  if (turn.state.status !== 'running') return
  if (check.legal) conclude(turn, task, attempt, 'advisor', advice.decision)
  else if (round >= turn.state.policy.maxSupervisionRounds) escalateSpent(turn, task, attempt, `The last answer was illegal: ${check.reason}`)
  else decide(turn, task)
}

function patched(turn: Turn, task: TaskState, attempt: AttemptState, event: Of<'patched'>): void {
  const { round, result, reason, tree } = event
  const file = attempt.patch?.file ?? 'the advice of this round'
  emit(turn, { kind: 'patch-applied', ...ref(task, attempt), round, result, reason, tree })
  if (turn.state.status !== 'running' || result !== 'suggested') goOn(turn, task)
  else conclude(turn, task, attempt, 'policy', { kind: 'escalate', reason: `A patch is suggested and was not applied (patchMode): see ${file}. ${reason}`.trimEnd() })
}

function abortedBy({ state }: Turn): string | null {
  return state.result?.kind === 'aborted' ? state.result.by : null
}

function closeAborted(turn: Turn, task: TaskState): void {
  cancel(turn, task, abortedBy(turn) ?? 'abort')
}

function unprepared(message: string): AttemptOutcome {
  return {
    kind: 'spawn-failed',
    message,
    launches: 0,
    sessionId: null,
    exit: null,
    clock: null,
    lastPhase: null,
    lastTool: null,
    spawnFailure: { reason: 'missing-cwd', message, key: 'workspace' },
    result: null,
    report: { kind: 'absent' },
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 },
    costUsd: 0,
    model: null,
    stderrTail: '',
    durationMs: 0,
  }
}

function about(event: AttemptEvent): { readonly task: string, readonly attempt: number, readonly launch?: number } {
  return { task: event.task, attempt: event.attempt, ...event.type === 'launch-fact' ? { launch: event.fact.launch } : {} }
}
