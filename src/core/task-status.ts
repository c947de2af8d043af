/** The few moves of a task's status, with the counters, the ready queue and the dependents that go with them. Used by `apply-entry.ts` and its parts only. */
import { addReady, removeReady } from './ready-queue.ts'
import { FIRST_ATTEMPT, isStuck, openAttempt } from './run-state.ts'
import type { NextAttempt, RunState, TaskState, TaskStatus } from './run-types.ts'

export function setStatus(state: RunState, task: TaskState, next: TaskStatus): void {
  const was = task.state.status
  state.counts[was] -= 1
  state.counts[next.status] += 1
  task.state = next
  if (next.status === 'ready') addReady(state.ready, state.tasks, task.index)
  else if (was === 'ready') removeReady(state.ready, state.tasks, task.index)
}

/** Leaves an attempt (if one is open) for a status without one; the attempt stays readable as `last`. */
export function leaveAttempt(state: RunState, task: TaskState, next: TaskStatus): void {
  task.last = openAttempt(task) ?? task.last
  setStatus(state, task, next)
}

/** Ready, or waiting for what it depends on. A split task goes back to waiting for its children. */
export function makeWaiting(state: RunState, task: TaskState, next: NextAttempt | null): void {
  if (task.children !== null) {
    leaveAttempt(state, task, { status: 'split', children: task.children })
  } else if (task.openDependencies > 0) {
    task.queued = next
    leaveAttempt(state, task, { status: 'pending' })
  } else {
    task.queued = null
    leaveAttempt(state, task, { status: 'ready', next: next ?? FIRST_ATTEMPT })
  }
}

export function accept(state: RunState, task: TaskState, attempt: number, evidence: readonly string[], commit: string | null): void {
  leaveAttempt(state, task, { status: 'accepted', attempt, evidence, commit })
  for (const index of task.dependents) {
    const dependent = state.tasks[index]
    if (dependent === undefined) continue
    dependent.openDependencies -= 1
    if (dependent.openDependencies === 0 && dependent.state.status === 'pending') makeWaiting(state, dependent, dependent.queued)
  }
}

/** A person gives the task another round of attempts (SEMANTICS 11): counters start again, the limit grows. */
export function reopen(state: RunState, task: TaskState, guidance: string): void {
  const fresh = task.last?.outcome?.kind === 'tainted' || task.reworks > state.policy.maxReworks
  task.extraAttempts += state.policy.maxRetriesPerTask
  task.rounds = 0
  task.reworks = 0
  task.spawnFailures = 0
  task.unchanged = 0
  makeWaiting(state, task, {
    kind: task.attempts === 0 ? 'first' : 'retry',
    guidance,
    guidanceSource: guidance === '' ? null : 'person',
    freshTree: fresh,
  })
}

/** Root causes as seen from what a task waits for: stuck tasks themselves, and the causes of blocked ones. */
export function causesOf(state: RunState, task: TaskState, limit: number): readonly string[] {
  const causes = new Set<string>()
  for (const id of task.children ?? task.spec.dependencies) {
    const dependency = state.byId.get(id)
    if (dependency === undefined) continue
    if (isStuck(dependency)) causes.add(id)
    else if (dependency.state.status === 'blocked') for (const cause of dependency.state.causes) causes.add(cause)
  }
  return [...causes].slice(0, limit)
}
