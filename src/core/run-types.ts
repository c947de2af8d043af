/**
 * State of a run, the events that move it and the effects it asks for. Types only; `reduce.ts` is the machine.
 *
 *   reduce(state, event) -> { entries, effects }     state is changed only by `applyEntry(state, entry)`
 *   fold(entries)        -> state                    equal to the live state: that is the replay test
 */
import type { AttemptLaunches, AttemptOutcome, LaunchFact } from './attempt-types.ts'
import type { Advice, Decision, Evidence, Verdict } from './evidence-types.ts'
import type { AttemptKind, Entry, HandoffAnswer, RunResult } from './entry-types.ts'
import type { TaskId, TaskSpec } from './graph-types.ts'

/** The part of the configuration that decisions depend on; frozen at run start. */
export interface RunPolicy {
  readonly maxConcurrency: number
  readonly maxRetriesPerTask: number
  readonly maxReworks: number
  readonly maxSupervisionRounds: number
  readonly acceptUnverified: boolean
  /** An advisor exists; without one the policy of DESIGN 5.9 decides. */
  readonly supervised: boolean
  readonly maxBudgetUsd: number | null
  readonly maxBudgetTokens: number | null
  /** Equal spawn failures in a row, over all tasks, before the run halts. */
  readonly breakerLimit: number
  /** All attempts work in one tree: a task keeps its slot until it has landed, so that no child edits what is being judged. */
  readonly sharedTree: boolean
  readonly maxSplitDepth: number
  readonly maxSplitChildren: number
  /** Names of executors whose tasks are expected to change files: for them an empty diff is `unchanged`. */
  readonly agents: readonly string[]
}

/** Why the next attempt of a task is started, carried from the decision that asked for it. */
export interface NextAttempt {
  readonly kind: AttemptKind
  /** Quoted at the end of the next prompt; empty for a first attempt. */
  readonly guidance: string
  readonly guidanceSource: 'check' | 'advisor' | 'person' | 'outcome' | null
  readonly freshTree: boolean
}

export interface AttemptState {
  readonly attempt: number
  readonly kind: AttemptKind
  readonly guidance: string
  readonly guidanceSource: NextAttempt['guidanceSource']
  readonly freshTree: boolean
  phase: 'preparing' | 'executing' | 'judging' | 'deciding'
  workspace: { readonly path: string, readonly tree: string } | null
  readonly launches: AttemptLaunches
  outcome: AttemptOutcome | null
  evidence: Evidence[]
  verdict: Verdict | null
  /** Times the judge itself failed on this attempt; 1 re-run, then a hand-off. */
  judgeErrors: number
  /** A decision that is not carried out yet: the next step of `patch`, `split` and `escalate` is taken from here after a crash. */
  decision: Decision | null
  /** The engine let go of the attempt before its outcome (stop, halt). It holds no slot; the next engine goes on with it. */
  suspended: boolean
  /** Set between `landed` and `task-accepted`. */
  landed: { readonly commit: string | null } | null
  /** What a person wrote when accepting. */
  note: string | null
  /** Set while a patch is between intent and outcome. */
  patch: { readonly round: number, readonly before: string, readonly after: string | null, readonly file: string } | null
}

export type TaskStatus =
  | { readonly status: 'pending' }
  | { readonly status: 'blocked', readonly causes: readonly TaskId[] }
  | { readonly status: 'ready', readonly next: NextAttempt }
  | { readonly status: 'active', readonly attempt: AttemptState }
  | { readonly status: 'landing', readonly attempt: AttemptState }
  | { readonly status: 'accepted', readonly attempt: number, readonly evidence: readonly string[], readonly commit: string | null }
  | { readonly status: 'split', readonly children: readonly TaskId[] }
  | { readonly status: 'failed', readonly reason: string }
  | { readonly status: 'escalated', readonly handoff: string, readonly reason: string }
  | { readonly status: 'cancelled', readonly by: string }

export interface TaskState {
  readonly spec: TaskSpec
  readonly index: number
  readonly depth: number
  readonly parent: TaskId | null
  state: TaskStatus
  /** Dependencies that are not accepted yet. */
  openDependencies: number
  /** Indexes of tasks that wait for this one. */
  readonly dependents: number[]
  /** Attempts that count against the limit, and the number of the newest attempt of any kind. */
  attempts: number
  lastAttempt: number
  /** What the next attempt will be when a reopened task has to wait first; null = a first attempt. */
  queued: NextAttempt | null
  /** Ids of the tasks this one was split into; kept while the task is blocked by one of them. */
  children: readonly TaskId[] | null
  /** Added to the limit by every `retry` of a person. */
  extraAttempts: number
  reworks: number
  rounds: number
  spawnFailures: number
  unchanged: number
  /** The newest ended attempt; kept for status, report and hand-offs. */
  last: AttemptState | null
  /** Priority key: longest remaining path in tasks, this one included. */
  remainingPath: number
}

/** A heap of task indexes: `heap[0]` starts next, `place[index]` is the position of a task in `heap`, -1 = not ready. */
export interface ReadyQueue {
  readonly heap: number[]
  readonly place: number[]
}

export interface RunState {
  readonly run: string
  readonly policy: RunPolicy
  status: 'running' | 'stopping' | 'finished'
  result: RunResult | null
  /** In order of the graph; split children are appended. */
  readonly tasks: TaskState[]
  readonly byId: Map<TaskId, TaskState>
  /** The ready tasks, best first. */
  readonly ready: ReadyQueue
  /** Slots in use: tasks that prepare or execute and are not suspended. Kept so that a turn costs nothing per idle task. */
  executing: number
  counts: Record<TaskStatus['status'], number>
  breaker: { key: string | null, count: number }
  splitChildren: number
  costUsd: number
  tokens: number
  handoffs: number
}

interface AttemptRef {
  readonly task: TaskId
  readonly attempt: number
}

/** Events carry every fact a decision may need: ids, texts, fingerprints. An event of an older attempt is recorded as late and changes nothing. */
export type RunEvent =
  | { readonly type: 'created', readonly graphSha256: string }
  /** An engine took the run: schedule, and ask again for every effect that has no outcome yet. */
  | { readonly type: 'engine-started', readonly pid: number, readonly host: string, readonly version: string }
  | { readonly type: 'suspended', readonly gapMs: number, readonly why: 'sleep' | 'pause' }
  | AttemptRef & { readonly type: 'workspace-ready', readonly path: string, readonly workspace: 'shared' | 'clone' | 'worktree', readonly tree: string }
  | AttemptRef & { readonly type: 'workspace-failed', readonly message: string }
  | AttemptRef & { readonly type: 'launch-fact', readonly fact: LaunchFact }
  | AttemptRef & { readonly type: 'attempt-outcome', readonly outcome: AttemptOutcome }
  | AttemptRef & { readonly type: 'evidence', readonly evidence: Evidence }
  | AttemptRef & { readonly type: 'judged', readonly verdict: Verdict }
  | AttemptRef & { readonly type: 'advised', readonly round: number, readonly advice: Advice }
  | AttemptRef & { readonly type: 'patch-planned', readonly round: number, readonly before: string, readonly after: string | null, readonly file: string }
  | AttemptRef & { readonly type: 'patched', readonly round: number, readonly result: 'applied' | 'suggested' | 'refused', readonly reason: string, readonly tree: string }
  | AttemptRef & { readonly type: 'landed', readonly commit: string | null }
  | AttemptRef & { readonly type: 'land-refused', readonly reason: 'conflict' | 'red' | 'moved', readonly message: string }
  /** A person, through the control spool or the command line. `id` is the spool id. */
  | { readonly type: 'control', readonly id: string, readonly by: string, readonly command: ControlCommand }
  /** Landed work brought scripts for checks that had nothing to run before; `checks` count from now on (SEMANTICS 10). */
  | { readonly type: 'pin-advanced', readonly task: TaskId, readonly checks: readonly string[] }
  | { readonly type: 'stop', readonly reason: string }
  | { readonly type: 'engine-stopped', readonly reason: string }
  | { readonly type: 'warning', readonly task?: TaskId, readonly attempt?: number, readonly code: string, readonly message: string }

export type ControlCommand =
  | { readonly kind: 'abort' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'retry', readonly task: TaskId, readonly guidance: string }
  | { readonly kind: 'answer', readonly task: TaskId, readonly answer: HandoffAnswer, readonly note: string }

export type Effect =
  | AttemptRef & { readonly kind: 'prepare-workspace' }
  /** Start the attempt, or go on with it: `state.launches` tells what already happened. */
  | AttemptRef & { readonly kind: 'execute' }
  | AttemptRef & { readonly kind: 'judge' }
  | AttemptRef & { readonly kind: 'advise', readonly round: number }
  | AttemptRef & { readonly kind: 'plan-patch', readonly round: number, readonly decision: Extract<Decision, { kind: 'patch' }> }
  | AttemptRef & { readonly kind: 'apply-patch', readonly round: number }
  | AttemptRef & { readonly kind: 'land' }
  /** End running attempts: all of them, or one. `stop` keeps the attempt open for a resume, `abort` ends it. */
  | { readonly kind: 'end-attempts', readonly how: 'stop' | 'abort', readonly task?: TaskId }
  /** Nothing is left to do for this engine: write reports, release. */
  | { readonly kind: 'settle' }

export interface Step {
  readonly entries: readonly Entry[]
  readonly effects: readonly Effect[]
}
