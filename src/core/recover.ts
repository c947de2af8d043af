/**
 * What an engine does first: ask again for every effect without an outcome, and complete what a batch of entries cut short by a crash left undone.
 * O(V+E), once per engine.
 */
import type { Turn } from './turn.ts'
import { ask, emit, letGo } from './turn.ts'
import { reviewAllBlocking } from './reduce-blocking.ts'
import { goOn } from './reduce-attempt.ts'
import { closeJoin, closeJoins, isClosable, landAttempt } from './reduce-landing.ts'
import { isOpen } from './run-state.ts'

export function recover(turn: Turn): void {
  if (turn.state.status === 'finished') {
    recoverFinished(turn)
    return
  }
  for (const task of turn.state.tasks) {
    if (!isClosable(task)) continue
    closeJoin(turn, task)
    closeJoins(turn, task)
  }
  reviewAllBlocking(turn)
  recoverAttempts(turn)
}

/** Effects of all open attempts. */
export function recoverAttempts(turn: Turn): void {
  const { active, landing } = turn.state.counts
  if (active + landing === 0) return
  for (const task of turn.state.tasks) goOn(turn, task)
}

/** The engine that ended the run died before its attempts were gone: take them over and end them. */
function recoverFinished(turn: Turn): void {
  const { state } = turn
  const { result } = state
  for (const task of state.tasks) {
    if (result?.kind === 'aborted' && isOpen(task)) emit(turn, { kind: 'task-cancelled', task: task.spec.id, by: result.by })
    if (task.state.status === 'landing') landAttempt(turn, task, task.state.attempt)
    if (task.state.status !== 'active' || task.state.attempt.suspended || task.state.attempt.phase !== 'executing') continue
    ask(turn, { kind: 'execute', task: task.spec.id, attempt: task.state.attempt.attempt })
  }
  if (result?.kind === 'halted') letGo(turn)
  else if (state.executing > 0) ask(turn, { kind: 'end-attempts', how: 'abort' })
}
