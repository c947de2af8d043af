/**
 * From an ended attempt to a decision, and from a decision to its first step. Order when several apply (SEMANTICS 5):
 * abort > halt > tampered/tainted > verdict > advisor. Nothing is decided while the run is not `running`; the next engine decides then.
 */
import { OpenClaudeError, assertNever } from '../errors.ts'
import type { Decision, DecisionSource } from './evidence-types.ts'
import type { AttemptState, TaskState } from './run-types.ts'
import { attemptsLeft, decideByPolicy } from './policy.ts'
import { blockDependents, reviewBlocking } from './reduce-blocking.ts'
import { landAttempt } from './reduce-landing.ts'
import { openAttempt, overBudget } from './run-state.ts'
import { splitFaults } from './split.ts'
import type { Turn } from './turn.ts'
import { ask, emit, finish } from './turn.ts'
import { verdictOfOutcome } from './verdict.ts'

/** Goes on with an attempt in phase `deciding`. Safe to call again after any crash. */
export function decide(turn: Turn, task: TaskState): void {
  const { state } = turn
  const attempt = openAttempt(task)
  if (state.status !== 'running' || attempt === null || attempt.phase !== 'deciding') return
  const { outcome } = attempt
  if (outcome === null) throw new OpenClaudeError('OC_INTERNAL', `task "${task.spec.id}" is to be decided before its attempt ended`)
  if (outcome.kind === 'aborted') {
    cancel(turn, task, 'abort of the attempt')
    return
  }
  if (outcome.kind === 'permission-wait' || outcome.kind === 'relaunch-limit') {
    openHandoff(turn, task, outcome.message)
    return
  }
  if (attempt.verdict === null) emit(turn, { kind: 'verdict', ...ref(task, attempt), verdict: verdictOfOutcome(outcome, treeOf(attempt)) })
  if (attempt.decision !== null) {
    carryOut(turn, task, attempt, attempt.decision)
    return
  }
  const budget = overBudget(state)
  if (budget !== null) {
    finish(turn, { kind: 'halted', reason: 'budget', message: budget })
    return
  }
  decideVerdict(turn, task, attempt)
}

function decideVerdict(turn: Turn, task: TaskState, attempt: AttemptState): void {
  const { policy } = turn.state
  const { verdict, outcome } = attempt
  if (verdict === null || outcome === null) return
  if (verdict.judgeError) {
    openHandoff(turn, task, `The judge failed twice. ${verdict.reason}`)
  } else if (outcome.kind === 'tainted' || verdict.kind === 'verified' || !policy.supervised) {
    concludeByPolicy(turn, task, attempt)
  } else if (task.rounds >= policy.maxSupervisionRounds) {
    escalateSpent(turn, task, attempt, verdict.reason)
  } else {
    ask(turn, { kind: 'advise', ...ref(task, attempt), round: task.rounds + 1 })
  }
}

export function concludeByPolicy(turn: Turn, task: TaskState, attempt: AttemptState): void {
  const { verdict, outcome, evidence } = attempt
  if (verdict === null || outcome === null) return
  const { acceptUnverified } = turn.state.policy
  const decision = decideByPolicy({ verdict, outcome, evidence, attemptsLeft: attemptsLeft(task, turn.state), unchanged: task.unchanged, acceptUnverified })
  conclude(turn, task, attempt, 'policy', decision)
}

/** The rounds are used up: a person decides. */
export function escalateSpent(turn: Turn, task: TaskState, attempt: AttemptState, why: string): void {
  const reason = `All ${turn.state.policy.maxSupervisionRounds} rounds (maxSupervisionRounds) are used. ${why}`
  record(turn, task, attempt, 'policy', { kind: 'escalate', reason }, task.rounds)
}

/** Writes a decision, turned into `escalate` where attempts or rounds do not allow it, and takes its first step. */
export function conclude(turn: Turn, task: TaskState, attempt: AttemptState, by: DecisionSource, decision: Decision): void {
  const round = task.rounds + 1
  const { maxSupervisionRounds } = turn.state.policy
  if (decision.kind === 'retry' && attemptsLeft(task, turn.state) <= 0) {
    record(turn, task, attempt, 'policy', { kind: 'escalate', reason: `A retry was decided, but no attempt is left. ${decision.reason}` }, round)
  } else if (decision.kind !== 'accept' && decision.kind !== 'escalate' && round >= maxSupervisionRounds) {
    const reason = `Round ${round} of ${maxSupervisionRounds} (maxSupervisionRounds) answered ${decision.kind}. ${decision.reason}`
    record(turn, task, attempt, 'policy', { kind: 'escalate', reason }, round)
  } else {
    record(turn, task, attempt, by, decision, round)
  }
}

function record(turn: Turn, task: TaskState, attempt: AttemptState, by: DecisionSource, decision: Decision, round: number): void {
  emit(turn, { kind: 'decision', ...ref(task, attempt), round, by, decision })
  carryOut(turn, task, attempt, decision)
}

function carryOut(turn: Turn, task: TaskState, attempt: AttemptState, decision: Decision): void {
  switch (decision.kind) {
    case 'accept':
      landAttempt(turn, task, attempt)
      return
    case 'retry':
      return
    case 'patch':
      if (attempt.patch === null) ask(turn, { kind: 'plan-patch', ...ref(task, attempt), round: task.rounds, decision })
      else ask(turn, { kind: 'apply-patch', ...ref(task, attempt), round: task.rounds })
      return
    case 'split':
      split(turn, task, decision)
      return
    case 'escalate':
      openHandoff(turn, task, decision.reason)
      return
    default:
      assertNever(decision)
  }
}

/** Legal when it was decided; between a crash and the next engine another split may have used up the limits. */
function split(turn: Turn, task: TaskState, decision: Extract<Decision, { kind: 'split' }>): void {
  const faults = splitFaults(turn.state, task, decision.tasks)
  if (faults.length > 0) {
    openHandoff(turn, task, `The split can't be made any more. ${faults.join(' ')}`)
    return
  }
  emit(turn, { kind: 'task-split', task: task.spec.id, children: decision.tasks })
  reviewBlocking(turn, turn.state.tasks.slice(-decision.tasks.length).map(child => child.index))
}

export function openHandoff(turn: Turn, task: TaskState, reason: string): void {
  const attempt = openAttempt(task)?.attempt ?? task.lastAttempt
  emit(turn, { kind: 'handoff-opened', task: task.spec.id, attempt, handoff: `h${turn.state.handoffs + 1}`, reason })
  blockDependents(turn, task)
}

export function cancel(turn: Turn, task: TaskState, by: string): void {
  emit(turn, { kind: 'task-cancelled', task: task.spec.id, by })
  blockDependents(turn, task)
}

export function ref(task: TaskState, attempt: AttemptState): { readonly task: string, readonly attempt: number } {
  return { task: task.spec.id, attempt: attempt.attempt }
}

function treeOf(attempt: AttemptState): string {
  return attempt.launches.launches.at(-1)?.tree ?? attempt.workspace?.tree ?? ''
}

