/** One call of `reduce` in the making: entries are applied as they are decided, effects are collected. */
import type { Entry, RunResult } from './entry-types.ts'
import type { Effect, RunState } from './run-types.ts'
import { applyEntry } from './apply-entry.ts'

export interface Turn {
  readonly state: RunState
  readonly entries: Entry[]
  readonly effects: Effect[]
}

export function emit(turn: Turn, entry: Entry): void {
  applyEntry(turn.state, entry)
  turn.entries.push(entry)
}

export function ask(turn: Turn, effect: Effect): void {
  turn.effects.push(effect)
}

export function warn(turn: Turn, code: string, message: string, about: { readonly task?: string, readonly attempt?: number, readonly launch?: number } = {}): void {
  emit(turn, { kind: 'warning', ...about, code, message })
}

/** Ends the run. Attempts that hold a slot are ended too: an abort closes them, a halt only suspends them. */
export function finish(turn: Turn, result: RunResult): void {
  emit(turn, { kind: 'run-finished', result })
  if (result.kind === 'halted') letGo(turn)
}

/** Stops the attempts without closing them. One that has no child yet is suspended at once; the others when their outcome says `stopped`. */
export function letGo(turn: Turn): void {
  if (turn.state.executing === 0) return
  for (const task of turn.state.tasks) {
    if (task.state.status !== 'active') continue
    const { attempt, phase, suspended } = task.state.attempt
    if (phase === 'preparing' && !suspended) emit(turn, { kind: 'attempt-suspended', task: task.spec.id, attempt })
  }
  if (turn.state.executing > 0) ask(turn, { kind: 'end-attempts', how: 'stop' })
}
