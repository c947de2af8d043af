/**
 * The machine: `reduce(state, event)` decides entries, applies each at once through `applyEntry`, and says which effects follow.
 * It owns `state` and changes it in place; pure otherwise. A turn costs nothing per idle task.
 *
 * What the driver owes: entries are durable before effects start; each effect yields one event of its own (`execute` one `attempt-outcome`, also when it was ended
 * before it began); an effect that is already under way (same kind, task, attempt, round) is left out; on `settle` it drops preparing, judging and advice, waits for
 * landings and patches, and sends `engine-stopped`. A `settle` counts only if `isSettled(state)` still holds after the turn.
 */
import { assertNever } from '../errors.ts'
import type { RunEvent, RunState, Step } from './run-types.ts'
import { recover } from './recover.ts'
import { reduceAttempt } from './reduce-attempt.ts'
import { reduceControl, stop } from './reduce-control.ts'
import { schedule } from './reduce-schedule.ts'
import { isSettled } from './run-state.ts'
import type { Turn } from './turn.ts'
import { ask, emit } from './turn.ts'

export function reduce(state: RunState, event: RunEvent): Step {
  const turn: Turn = { state, entries: [], effects: [] }
  const wasSettled = isSettled(state)
  handle(turn, event)
  if (event.type !== 'created') schedule(turn)
  if (isSettled(state) && (!wasSettled || event.type === 'engine-started')) ask(turn, { kind: 'settle' })
  return { entries: turn.entries, effects: turn.effects }
}

function handle(turn: Turn, event: RunEvent): void {
  switch (event.type) {
    case 'created':
      emit(turn, { kind: 'run-created', run: turn.state.run, tasks: turn.state.tasks.length, graphSha256: event.graphSha256 })
      return
    case 'engine-started':
      emit(turn, { kind: 'engine-started', pid: event.pid, host: event.host, version: event.version })
      recover(turn)
      return
    case 'suspended':
      emit(turn, { kind: 'engine-suspended', gapMs: event.gapMs, why: event.why })
      return
    case 'stop':
      stop(turn, event.reason)
      return
    case 'engine-stopped':
      emit(turn, { kind: 'engine-stopped', reason: event.reason })
      return
    case 'control':
      reduceControl(turn, event)
      return
    case 'pin-advanced':
      emit(turn, { kind: 'pin-advanced', task: event.task, checks: event.checks })
      return
    case 'warning': {
      const { task, attempt, code, message } = event
      emit(turn, { kind: 'warning', ...task === undefined ? {} : { task }, ...attempt === undefined ? {} : { attempt }, code, message })
      return
    }
    case 'workspace-ready':
    case 'workspace-failed':
    case 'launch-fact':
    case 'attempt-outcome':
    case 'evidence':
    case 'judged':
    case 'advised':
    case 'patch-planned':
    case 'patched':
    case 'landed':
    case 'land-refused':
      reduceAttempt(turn, event)
      return
    default:
      assertNever(event)
  }
}
