/**
 * The vocabulary of a graph: what a task is once its file has been decoded and validated. Types only.
 * Decoding from text is `decode-graph.ts`; order, cycles and paths are `graph.ts`.
 */

/** `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`, no `..`, no final `.` or `.lock`, unique without regard to case. */
export type TaskId = string

export const CHECK_ROLES = ['lint', 'typecheck', 'build', 'test'] as const
/** The order in which checks run: lint, typecheck, build, test, then the extra ones. */
export type CheckRole = (typeof CHECK_ROLES)[number]

/** One acceptance command a task brings itself. A bare role name stands for the project's own script of that role. */
export interface CheckSpec {
  readonly name: string
  /** A command line, run by `sh -c` in the work tree. */
  readonly command: string
  readonly timeoutMs?: number
  /** Default true: a red one rejects. A check that is not required is only a finding. */
  readonly required?: boolean
  /** Marked safe to run beside other checks. Default false. */
  readonly parallel?: boolean
}

/** Per-task overrides of the clocks (SEMANTICS 4). Milliseconds; 0 = off only for `idleTimeoutMs` and `maxRuntimeMs`. */
export interface TaskTimeouts {
  readonly firstEventTimeoutMs?: number
  readonly idleTimeoutMs?: number
  readonly toolTimeoutMs?: number
  readonly agentToolTimeoutMs?: number
  readonly backgroundTimeoutMs?: number
  readonly settleTimeoutMs?: number
  readonly maxRuntimeMs?: number
  readonly acceptanceTimeoutMs?: number
}

export interface TaskSpec {
  readonly id: TaskId
  readonly title: string
  readonly description: string
  readonly acceptanceCriteria: readonly string[]
  readonly dependencies: readonly TaskId[]
  /** Higher runs first; default 0. */
  readonly priority: number
  /** Name of a registered executor; default `openclaude`. */
  readonly assignee: string
  /** The command line of a task for the `command` executor; present exactly then. */
  readonly command?: string
  /** Replaces the run's checks for this task. An empty list = no checks (the verdict is then `unverified`). */
  readonly checks?: readonly (CheckRole | CheckSpec)[]
  readonly model?: string
  readonly timeouts?: TaskTimeouts
  /** Replaces `maxRetriesPerTask`: attempts in total, the first included. */
  readonly maxAttempts?: number
  /** Globs of the files the task is about. Files touched outside are a finding; an empty list = the task is to change nothing. */
  readonly paths?: readonly string[]
  /** Globs of judge files (tests, lint config, manifests) the task may edit. */
  readonly mayEdit?: readonly string[]
  /** The least number of tests the `test` check must report to count; 0 = an empty run is allowed. */
  readonly expectTests?: number
}

/** A validated graph: ids unique, dependencies known, no cycle. `tasks` keeps the order of the file. */
export interface Graph {
  readonly tasks: readonly TaskSpec[]
}
