/** Entries of an open attempt: workspace, launches, evidence, verdict, decision, patch, landing. Part of `apply-entry.ts`, which is the only caller. */
import { OpenClaudeError, assertNever } from '../errors.ts'
import type { AttemptState, NextAttempt, RunState, TaskState } from './run-types.ts'
import type { Entry } from './entry-types.ts'
import type { Decision } from './evidence-types.ts'
import type { LaunchFact } from './attempt-types.ts'
import { applyLaunchFact, newLaunches } from './launches.ts'
import { openAttempt } from './run-state.ts'
import { leaveAttempt, makeWaiting, reopen, setStatus } from './task-status.ts'

export type AttemptEntry = Extract<Entry, { readonly attempt: number }>
type Of<K extends Entry['kind']> = Extract<Entry, { readonly kind: K }>
export type OpenAttemptEntry = Exclude<AttemptEntry, Of<'attempt-started' | 'task-accepted' | 'handoff-opened' | 'warning'>>

export function startAttempt(state: RunState, task: TaskState, entry: Of<'attempt-started'>): void {
  const next = task.state.status === 'ready' ? task.state.next : null
  if (entry.attemptKind !== 'rework') task.attempts += 1
  task.lastAttempt = entry.attempt
  setStatus(state, task, {
    status: 'active',
    attempt: {
      attempt: entry.attempt,
      kind: entry.attemptKind,
      guidance: next?.guidance ?? '',
      guidanceSource: next?.guidanceSource ?? null,
      freshTree: entry.freshTree,
      phase: 'preparing',
      workspace: null,
      launches: newLaunches(),
      outcome: null,
      evidence: [],
      verdict: null,
      judgeErrors: 0,
      decision: null,
      suspended: false,
      landed: null,
      note: null,
      patch: null,
    },
  })
}

export function applyAttemptEntry(state: RunState, task: TaskState, entry: OpenAttemptEntry): void {
  if (entry.kind === 'decision' && entry.by === 'person') {
    if (entry.decision.kind === 'retry') reopen(state, task, entry.decision.guidance)
    return
  }
  const attempt = openAttempt(task)
  if (attempt === null || attempt.attempt !== entry.attempt) {
    throw new OpenClaudeError('OC_INTERNAL', `entry ${entry.kind} names attempt ${entry.attempt} of task "${entry.task}", which is not open`)
  }
  switch (entry.kind) {
    case 'workspace-intended':
    case 'land-intended':
      return
    case 'workspace-ready':
      attempt.workspace = { path: entry.path, tree: entry.tree }
      attempt.phase = 'executing'
      return
    case 'attempt-suspended':
      attempt.suspended = true
      return
    case 'attempt-ended':
      endAttempt(state, task, attempt, entry)
      return
    case 'check-evidence':
      attempt.evidence = [...attempt.evidence.filter(known => known.check !== entry.evidence.check), entry.evidence]
      return
    case 'verdict':
      applyVerdict(task, attempt, entry)
      return
    case 'advice':
      if (entry.result === 'illegal' || entry.result === 'unreadable') task.rounds = Math.max(task.rounds, entry.round)
      return
    case 'decision':
      applyDecision(state, task, attempt, entry)
      return
    case 'patch-intended':
      attempt.patch = { round: entry.round, before: entry.before, after: entry.after, file: entry.file }
      return
    case 'patch-applied':
      applyPatched(attempt, entry.result)
      return
    case 'landed':
      attempt.landed = { commit: entry.commit }
      return
    case 'land-refused':
      task.reworks += 1
      makeWaiting(state, task, { kind: 'rework', guidance: entry.message, guidanceSource: 'outcome', freshTree: true })
      return
    case 'launch-intended':
    case 'launch-live':
    case 'launch-adopted':
    case 'launch-first-record':
    case 'launch-ended':
    case 'launch-swept':
    case 'launch-spawn-failed':
      applyLaunch(state, attempt, entry)
      return
    default:
      assertNever(entry)
  }
}

function applyLaunch(state: RunState, attempt: AttemptState, fact: Exclude<LaunchFact, { kind: 'warning' }>): void {
  applyLaunchFact(attempt.launches, fact)
  if (fact.kind === 'launch-first-record') state.breaker = { key: null, count: 0 }
  if (fact.kind !== 'launch-ended') return
  const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens } = fact.end.usage
  state.costUsd += fact.end.costUsd
  state.tokens += inputTokens + outputTokens + cacheReadTokens + cacheCreationTokens
}

/** A failed spawn is the environment's fault: the same attempt is asked for again under the next number, and does not count. */
function endAttempt(state: RunState, task: TaskState, attempt: AttemptState, entry: Of<'attempt-ended'>): void {
  attempt.outcome = entry.outcome
  attempt.suspended = false
  attempt.phase = entry.outcome.kind === 'succeeded' ? 'judging' : 'deciding'
  if (entry.outcome.kind !== 'spawn-failed') return
  const key = entry.outcome.spawnFailure?.key ?? entry.outcome.message
  state.breaker = { key, count: state.breaker.key === key ? state.breaker.count + 1 : 1 }
  task.spawnFailures += 1
  if (attempt.kind !== 'rework') task.attempts -= 1
  const { kind, guidance, guidanceSource, freshTree } = attempt
  makeWaiting(state, task, { kind, guidance, guidanceSource, freshTree })
}

/** A judge that could not run a check runs once more; the second time a person is asked and the attempt does not count (SEMANTICS 5). */
function applyVerdict(task: TaskState, attempt: AttemptState, entry: Of<'verdict'>): void {
  if (entry.verdict.judgeError) {
    attempt.judgeErrors += 1
    if (attempt.judgeErrors === 1) {
      attempt.evidence = []
      attempt.phase = 'judging'
      return
    }
    if (attempt.kind !== 'rework') task.attempts -= 1
  }
  attempt.verdict = entry.verdict
  attempt.phase = 'deciding'
  if (entry.verdict.kind === 'unchanged') task.unchanged += 1
}

function applyDecision(state: RunState, task: TaskState, attempt: AttemptState, entry: Of<'decision'>): void {
  const { decision } = entry
  attempt.decision = decision
  if (decision.kind === 'accept') {
    setStatus(state, task, { status: 'landing', attempt })
    return
  }
  task.rounds = Math.max(task.rounds, entry.round)
  if (decision.kind === 'retry') leaveAttempt(state, task, { status: 'ready', next: nextAttempt(attempt, decision, entry.by) })
}

function nextAttempt(attempt: AttemptState, decision: Extract<Decision, { kind: 'retry' }>, by: Of<'decision'>['by']): NextAttempt {
  const fromPolicy = attempt.verdict?.kind === 'rejected' && attempt.outcome?.kind === 'succeeded' ? 'check' : 'outcome'
  return {
    kind: 'retry',
    guidance: decision.guidance,
    guidanceSource: by === 'policy' ? fromPolicy : by,
    freshTree: decision.freshTree ?? attempt.outcome?.kind === 'tainted',
  }
}

function applyPatched(attempt: AttemptState, result: Of<'patch-applied'>['result']): void {
  attempt.patch = null
  attempt.decision = null
  if (result !== 'applied') return
  attempt.evidence = []
  attempt.verdict = null
  attempt.phase = 'judging'
}
