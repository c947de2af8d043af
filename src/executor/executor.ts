/**
 * The contract of an executor: it performs one attempt and reports facts. It knows nothing of graphs, verdicts or other tasks.
 * Built-in: `openclaude` and `command`; others are added with `registerExecutor`.
 */
import type { AttemptLaunches, AttemptOutcome, LaunchFact } from '../core/attempt-types.ts'
import type { TaskTimeouts } from '../core/graph-types.ts'

export interface AttemptRequest {
  readonly run: string
  readonly task: string
  /** Index of the task in the graph; part of directory names. */
  readonly taskIndex: number
  readonly attempt: number
  /** Absolute; launch directories are made below it as `l<n>`. */
  readonly attemptDir: string
  /** Absolute; `LaunchFact.dir` is relative to it. */
  readonly runDir: string
  /** Absolute root of the work tree: the sweep covers processes whose cwd is inside it. */
  readonly workspaceRoot: string
  /** Absolute working directory of the child, inside the root. */
  readonly cwd: string
  readonly prompt: string
  /** The command line; present for the `command` executor. */
  readonly command?: string
  readonly model?: string
  readonly timeouts: TaskTimeouts
  /** Fold of the launches that already happened; empty for a new attempt. The executor adopts, ends or relaunches by SEMANTICS 7. */
  readonly launches: AttemptLaunches
}

/** What a view may show of a running attempt. Never journalled. */
export interface AttemptActivity {
  readonly launch: number
  readonly phase: string
  readonly lastTool: string | null
  /** Monotonic ms (`performance.now()`) of the last progress. */
  readonly progressAt: number
  readonly costUsd: number
}

export interface AttemptPorts {
  /** Resolves once the fact is in the journal as its kind demands: `launch-intended` before it resolves is durable. Rejects when the journal is poisoned; then nothing may be launched. */
  readonly record: (fact: LaunchFact) => Promise<void>
  readonly activity: (activity: AttemptActivity) => void
  /** Fingerprint of the work tree, for the same-stall rule and for outcomes. */
  readonly fingerprint: () => Promise<string>
  /** Replaces secret values in text that leaves the launch directory. */
  readonly redact: (text: string) => string
}

export type AttemptEndRequest = 'stop' | 'abort' | 'now'

export interface AttemptHandle {
  /** Never rejects, but for a poisoned journal. Settles when the process tree is gone and swept. */
  readonly outcome: Promise<AttemptOutcome>
  /** `stop`: ladder, the attempt stays open. `abort`: ladder, the attempt is over. `now`: SIGKILL the tree at once. Idempotent; a stronger request shortens a weaker one. */
  readonly end: (request: AttemptEndRequest) => void
}

export interface Executor {
  readonly name: string
  /** Its tasks are expected to change files. */
  readonly agent: boolean
  /** Checked once before the first task starts. Throws `OpenClaudeError` naming what is wrong and where it looked. Returns facts for the report. */
  readonly preflight: (context: { readonly cwd: string }) => Promise<PreflightFacts>
  readonly start: (request: AttemptRequest, ports: AttemptPorts) => AttemptHandle
  /** Removes sessions it minted (`keepSessions: false`); absent = nothing to remove. */
  readonly forget?: (sessions: readonly { readonly sessionId: string, readonly cwd: string }[]) => Promise<void>
}

export interface PreflightFacts {
  readonly executable: string
  readonly version: string
  /** What was found in order, for `doctor`. */
  readonly notes: readonly string[]
  /** Shown to whoever starts a run; absent = none. */
  readonly warnings?: readonly string[]
}
