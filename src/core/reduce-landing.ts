/** From `accept` to accepted: intent, landing, and the join of split tasks. A refused landing comes back as rework until the limit. */
import type { AttemptState, RunEvent, TaskState } from './run-types.ts'
import type { Turn } from './turn.ts'
import { ask, emit } from './turn.ts'

type Of<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

/** Safe to call again: landing the same tree twice is the same landing, and a landing that is on record is only written down. */
export function landAttempt(turn: Turn, task: TaskState, attempt: AttemptState): void {
  if (attempt.landed !== null) {
    acceptLanded(turn, task, attempt)
    return
  }
  const ref = { task: task.spec.id, attempt: attempt.attempt }
  emit(turn, { kind: 'land-intended', ...ref, from: null, to: null })
  ask(turn, { kind: 'land', ...ref })
}

export function reduceLanded(turn: Turn, task: TaskState, attempt: AttemptState, event: Of<'landed'>): void {
  emit(turn, { kind: 'landed', task: event.task, attempt: event.attempt, commit: event.commit })
  acceptLanded(turn, task, attempt)
}

function acceptLanded(turn: Turn, task: TaskState, attempt: AttemptState): void {
  emit(turn, {
    kind: 'task-accepted',
    task: task.spec.id,
    attempt: attempt.attempt,
    evidence: attempt.verdict?.evidence ?? [],
    commit: attempt.landed?.commit ?? null,
    ...attempt.note === null ? {} : { note: attempt.note },
  })
  closeJoins(turn, task)
}

/** Accepts the split tasks whose last child `task` was, and theirs. */
export function closeJoins(turn: Turn, task: TaskState): void {
  const accepted = [task]
  for (const each of accepted) {
    for (const index of each.dependents) {
      const parent = turn.state.tasks[index]
      if (parent === undefined || !isClosable(parent)) continue
      closeJoin(turn, parent)
      accepted.push(parent)
    }
  }
}

export function isClosable(task: TaskState): boolean {
  return task.state.status === 'split' && task.openDependencies === 0
}

export function closeJoin(turn: Turn, parent: TaskState): void {
  emit(turn, { kind: 'task-accepted', task: parent.spec.id, attempt: 0, evidence: [], commit: null })
}
