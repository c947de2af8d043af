/** Starts what is ready while slots are free, and ends the run when nothing is left to start. */
import type { TaskState } from './run-types.ts'
import { firstReady } from './ready-queue.ts'
import { openHandoff } from './reduce-decision.ts'
import { MAX_SPAWN_FAILURES, attemptLimit, overBudget, slotsInUse } from './run-state.ts'
import type { Turn } from './turn.ts'
import { ask, emit, finish } from './turn.ts'

export function schedule(turn: Turn): void {
  const { state } = turn
  while (state.status === 'running' && slotsInUse(state) < state.policy.maxConcurrency) {
    const task = firstReady(state.ready, state.tasks)
    if (task === undefined) break
    const budget = overBudget(state)
    if (budget !== null) finish(turn, { kind: 'halted', reason: 'budget', message: budget })
    else if (!handOffIfSpent(turn, task)) start(turn, task)
  }
  const { ready, active, landing } = state.counts
  if (state.status !== 'running' || ready + active + landing > 0) return
  const complete = state.counts.accepted + state.counts.split === state.tasks.length
  finish(turn, complete ? { kind: 'complete' } : { kind: 'incomplete' })
}

function start(turn: Turn, task: TaskState): void {
  if (task.state.status !== 'ready') return
  const { kind: attemptKind, freshTree } = task.state.next
  const ref = { task: task.spec.id, attempt: task.lastAttempt + 1 }
  emit(turn, { kind: 'attempt-started', ...ref, attemptKind, freshTree })
  emit(turn, { kind: 'workspace-intended', ...ref })
  ask(turn, { kind: 'prepare-workspace', ...ref })
}

/** A ready task whose counters allow no further attempt goes to a person instead. */
export function handOffIfSpent(turn: Turn, task: TaskState): boolean {
  const reason = spent(turn, task)
  if (reason !== null) openHandoff(turn, task, reason)
  return reason !== null
}

function spent({ state }: Turn, task: TaskState): string | null {
  if (task.state.status !== 'ready') return null
  const { next } = task.state
  const limit = attemptLimit(task, state.policy)
  if (task.spawnFailures >= MAX_SPAWN_FAILURES) {
    return `The executor could not be started ${task.spawnFailures} times: ${task.last?.outcome?.message ?? 'no reason is known'}`
  }
  if (next.kind === 'rework' && task.reworks > state.policy.maxReworks) {
    return `The work came back from landing ${task.reworks} times; maxReworks is ${state.policy.maxReworks}. ${next.guidance}`
  }
  if (next.kind !== 'rework' && task.attempts >= limit) return `All ${limit} attempts are used.`
  return null
}
