/**
 * What a task that can't be accepted does to the tasks that wait for it (T13): they are blocked at once, by their root causes, and freed when every cause is reopened.
 * A failure costs O(V+E) over the whole run: a task whose list of causes is full passes nothing on that its dependents do not have already.
 */
import { assertNever } from '../errors.ts'
import type { RunState, TaskState } from './run-types.ts'
import { MAX_CAUSES, isStuck } from './run-state.ts'
import { causesOf } from './task-status.ts'
import type { Turn } from './turn.ts'
import { emit } from './turn.ts'

/** Blocks everything that waits for `root`, which just became failed, escalated or cancelled. */
export function blockDependents(turn: Turn, root: TaskState): void {
  const { state } = turn
  const reached = new Set<number>([root.index])
  for (const index of reached) {
    for (const dependentIndex of state.tasks[index]?.dependents ?? []) {
      const dependent = state.tasks[dependentIndex]
      if (dependent === undefined || reached.has(dependentIndex) || !addCause(turn, dependent, root)) continue
      reached.add(dependentIndex)
    }
  }
}

/** False when the task does not wait any more, or knows enough causes. */
function addCause(turn: Turn, task: TaskState, root: TaskState): boolean {
  switch (task.state.status) {
    case 'pending':
    case 'split':
      emit(turn, { kind: 'task-blocked', task: task.spec.id, causes: [root.spec.id] })
      return true
    case 'blocked': {
      const { causes } = task.state
      if (causes.length >= MAX_CAUSES || causes.includes(root.spec.id)) return false
      emit(turn, { kind: 'task-blocked', task: task.spec.id, causes: [...causes, root.spec.id] })
      return true
    }
    case 'ready':
    case 'active':
    case 'landing':
    case 'accepted':
    case 'failed':
    case 'escalated':
    case 'cancelled':
      return false
    default:
      return assertNever(task.state)
  }
}

/** Recomputes the causes of everything that waits for `roots`, directly or through others; the roots themselves are recomputed too. For rare moments: a person reopens a task, an engine starts. */
export function reviewBlocking(turn: Turn, roots: Iterable<number>): void {
  const { state } = turn
  for (const index of downstreamInOrder(state, roots)) {
    const task = state.tasks[index]
    if (task === undefined) continue
    const { status } = task.state
    if (status !== 'pending' && status !== 'blocked' && status !== 'split') continue
    const known = task.state.status === 'blocked' ? task.state.causes : []
    const causes = causesOf(state, task, MAX_CAUSES)
    if (causes.length === 0 && status === 'blocked') emit(turn, { kind: 'task-unblocked', task: task.spec.id })
    else if (causes.length > 0 && !sameMembers(known, causes)) emit(turn, { kind: 'task-blocked', task: task.spec.id, causes })
  }
}

/** Everything at once; needed only where a batch of entries may have been cut short. */
export function reviewAllBlocking(turn: Turn): void {
  const { counts } = turn.state
  if (counts.failed + counts.escalated + counts.cancelled + counts.blocked === 0) return
  reviewBlocking(turn, turn.state.tasks.filter(task => isStuck(task) || task.state.status === 'blocked').map(task => task.index))
}

function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && right.every(each => left.includes(each))
}

/** The roots and all that waits for them, each task after everything of the set that it waits for. */
function downstreamInOrder(state: RunState, roots: Iterable<number>): readonly number[] {
  const reached = new Set<number>(roots)
  for (const index of reached) for (const dependent of state.tasks[index]?.dependents ?? []) reached.add(dependent)
  const open = new Map<number, number>()
  for (const index of reached) for (const dependent of state.tasks[index]?.dependents ?? []) open.set(dependent, (open.get(dependent) ?? 0) + 1)
  const order = [...reached].filter(index => !open.has(index))
  for (let next = 0; next < order.length; next += 1) {
    for (const dependent of state.tasks[order[next] ?? -1]?.dependents ?? []) {
      const left = (open.get(dependent) ?? 0) - 1
      open.set(dependent, left)
      if (left === 0) order.push(dependent)
    }
  }
  return order
}
