/** What every effect gets: the run, its parts, the way back to the machine, and the attempt it is about. */
import type { AttemptState, RunEvent, TaskState } from '../../core/run-types.ts'
import type { EngineParts } from './parts.ts'

export interface EffectContext {
  readonly run: string
  readonly runDir: string
  readonly parts: EngineParts
  readonly post: (event: RunEvent) => Promise<void>
  readonly attemptsLeft: (task: TaskState) => number
  /** Aborted when judging and advice are to be dropped. */
  readonly signal: AbortSignal
}

/** One attempt as an effect sees it: copied at the turn that asked for it, so that no effect reads a newer state. */
export interface AttemptScope {
  readonly task: TaskState
  readonly attempt: AttemptState
}
