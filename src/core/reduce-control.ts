/** What people ask for, through the control spool or the command line: stop, abort, retry, answers to hand-offs (SEMANTICS 2, 3, 11). */
import { assertNever } from '../errors.ts'
import type { ControlCommand, RunEvent, TaskState } from './run-types.ts'
import { personMayAccept } from './policy.ts'
import { recoverAttempts } from './recover.ts'
import { reviewBlocking } from './reduce-blocking.ts'
import { closeJoin, closeJoins, isClosable, landAttempt } from './reduce-landing.ts'
import { isOpen, openAttempt } from './run-state.ts'
import type { Turn } from './turn.ts'
import { ask, emit, finish, letGo, warn } from './turn.ts'

type Control = Extract<RunEvent, { readonly type: 'control' }>
type Answer = Extract<ControlCommand, { readonly kind: 'answer' }>

export function reduceControl(turn: Turn, { id, by, command }: Control): void {
  emit(turn, { kind: 'control-received', id, command: command.kind, detail: detailOf(command, by) })
  switch (command.kind) {
    case 'abort':
      abort(turn, by)
      return
    case 'stop':
      stop(turn, `stop by ${by}`)
      return
    case 'retry':
      withTask(turn, command.task, task => { retry(turn, task, by, command.guidance) })
      return
    case 'answer':
      withTask(turn, command.task, task => { answer(turn, task, by, command) })
      return
    default:
      assertNever(command)
  }
}

/** The engine leaves and the run stays resumable. A second stop changes nothing. */
export function stop(turn: Turn, reason: string): void {
  if (turn.state.status !== 'running') return
  emit(turn, { kind: 'engine-stopping', reason })
  letGo(turn)
}

/** Ends the run and cancels what is open. Attempts with a child are cancelled when it is gone; a landing under way is let finish. */
function abort(turn: Turn, by: string): void {
  const { state } = turn
  if (state.status === 'finished') {
    ignore(turn, `The run has finished (${state.result?.kind ?? 'unknown'}); there is nothing to abort.`)
    return
  }
  finish(turn, { kind: 'aborted', by })
  for (const task of state.tasks) if (isOpen(task)) emit(turn, { kind: 'task-cancelled', task: task.spec.id, by })
  if (state.executing > 0) ask(turn, { kind: 'end-attempts', how: 'abort' })
}

function retry(turn: Turn, task: TaskState, by: string, guidance: string): void {
  const { state } = task
  switch (state.status) {
    case 'escalated':
      reopenRun(turn, task, by, 'retry')
      emit(turn, { kind: 'handoff-answered', task: task.spec.id, handoff: state.handoff, answer: 'retry', by, note: guidance })
      break
    case 'failed':
    case 'cancelled': {
      reopenRun(turn, task, by, 'retry')
      const decision = { kind: 'retry', reason: `retry by ${by}`, guidance } as const
      emit(turn, { kind: 'decision', task: task.spec.id, attempt: task.lastAttempt, round: 0, by: 'person', decision })
      break
    }
    case 'blocked':
      ignore(turn, `Task "${task.spec.id}" is blocked by ${state.causes.join(', ')}; retry these.`, task)
      return
    case 'pending':
    case 'ready':
    case 'active':
    case 'landing':
    case 'split':
      // A halted run leaves tasks in the middle: they go on as they were, with their counters.
      if (turn.state.result?.kind === 'halted') reopenRun(turn, task, by, 'retry')
      else ignoreRetry(turn, task)
      return
    case 'accepted':
      ignoreRetry(turn, task)
      return
    default:
      assertNever(state)
  }
  reviewBlocking(turn, [task.index])
  if (!isClosable(task)) return
  closeJoin(turn, task)
  closeJoins(turn, task)
}

function ignoreRetry(turn: Turn, task: TaskState): void {
  ignore(turn, `Task "${task.spec.id}" is ${task.state.status}; only failed, escalated and cancelled tasks can be retried.`, task)
}

function answer(turn: Turn, task: TaskState, by: string, command: Answer): void {
  if (task.state.status !== 'escalated') {
    ignore(turn, `Task "${task.spec.id}" is ${task.state.status}: no hand-off is open.`, task)
    return
  }
  const { handoff } = task.state
  const answered = { kind: 'handoff-answered', task: task.spec.id, handoff, answer: command.answer, by, note: command.note } as const
  switch (command.answer) {
    case 'retry':
      retry(turn, task, by, command.note)
      return
    case 'drop':
      emit(turn, answered)
      emit(turn, { kind: 'task-failed', task: task.spec.id, reason: command.note === '' ? `given up by ${by}` : command.note })
      return
    case 'accept': {
      const check = personMayAccept(task)
      if (!check.legal) {
        ignore(turn, `Task "${task.spec.id}" can't be accepted. ${check.reason}`, task)
        return
      }
      reopenRun(turn, task, by, 'accept')
      emit(turn, answered)
      reviewBlocking(turn, [task.index])
      const attempt = openAttempt(task)
      if (attempt !== null && turn.state.status === 'running') landAttempt(turn, task, attempt)
      return
    }
    default:
      assertNever(command.answer)
  }
}

/** A finished run goes on; so does everything its end had interrupted. */
function reopenRun(turn: Turn, task: TaskState, by: string, reason: string): void {
  if (turn.state.status !== 'finished') return
  emit(turn, { kind: 'run-reopened', by, reason, tasks: [task.spec.id] })
  recoverAttempts(turn)
}

function withTask(turn: Turn, id: string, act: (task: TaskState) => void): void {
  const task = turn.state.byId.get(id)
  if (task === undefined) ignore(turn, `The run has no task "${id}".`)
  else act(task)
}

function ignore(turn: Turn, message: string, task?: TaskState): void {
  warn(turn, 'control-ignored', message, task === undefined ? {} : { task: task.spec.id })
}

function detailOf(command: ControlCommand, by: string): string {
  switch (command.kind) {
    case 'abort':
    case 'stop':
      return `by ${by}`
    case 'retry':
      return `${command.task} by ${by}`
    case 'answer':
      return `${command.task} ${command.answer} by ${by}`
    default:
      return assertNever(command)
  }
}
