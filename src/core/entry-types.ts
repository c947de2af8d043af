/**
 * The journal entries (SEMANTICS 6). An entry is what happened; the state of a run is the fold of its entries and nothing else.
 * The header (`v, seq, at, mono, engine, prev`) is added by the journal writer and is no business of the core.
 */
import type { AttemptOutcome, LaunchFact } from './attempt-types.ts'
import type { Decision, DecisionSource, Evidence, Verdict } from './evidence-types.ts'
import type { TaskId, TaskSpec } from './graph-types.ts'

export const JOURNAL_VERSION = 1

export type RunResult =
  | { readonly kind: 'complete' }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'aborted', readonly by: string }
  | { readonly kind: 'halted', readonly reason: HaltReason, readonly message: string }

export type HaltReason = 'breaker' | 'budget' | 'journal'

export type AttemptKind = 'first' | 'retry' | 'rework'

export type HandoffAnswer = 'accept' | 'retry' | 'drop'

interface AttemptRef {
  readonly task: TaskId
  /** 1-based within the task. */
  readonly attempt: number
}

type LaunchEntry = LaunchFact extends infer F ? (F extends LaunchFact ? Omit<F, 'kind'> & AttemptRef & { readonly kind: F['kind'] } : never) : never

export type Entry =
  | { readonly kind: 'run-created', readonly run: string, readonly tasks: number, readonly graphSha256: string }
  | { readonly kind: 'run-reopened', readonly by: string, readonly reason: string, readonly tasks: readonly TaskId[] }
  | { readonly kind: 'engine-started', readonly pid: number, readonly host: string, readonly version: string }
  | { readonly kind: 'engine-suspended', readonly gapMs: number, readonly why: 'sleep' | 'pause' }
  | { readonly kind: 'engine-stopping', readonly reason: string }
  | { readonly kind: 'engine-stopped', readonly reason: string }
  | { readonly kind: 'run-finished', readonly result: RunResult }
  | { readonly kind: 'task-blocked', readonly task: TaskId, readonly causes: readonly TaskId[] }
  | { readonly kind: 'task-unblocked', readonly task: TaskId }
  | { readonly kind: 'task-split', readonly task: TaskId, readonly children: readonly TaskSpec[] }
  | { readonly kind: 'task-cancelled', readonly task: TaskId, readonly by: string }
  | { readonly kind: 'task-failed', readonly task: TaskId, readonly reason: string }
  | {
    readonly kind: 'task-accepted'
    readonly task: TaskId
    /** 0 for a split task that closed through its children. */
    readonly attempt: number
    readonly evidence: readonly string[]
    readonly commit: string | null
    readonly note?: string
  }
  | AttemptRef & { readonly kind: 'attempt-started', readonly attemptKind: AttemptKind, readonly freshTree: boolean }
  | AttemptRef & { readonly kind: 'attempt-ended', readonly outcome: AttemptOutcome, readonly counted: boolean }
  /** The engine let go of the attempt before its outcome (stop, halt); the next engine goes on with it. */
  | AttemptRef & { readonly kind: 'attempt-suspended' }
  | AttemptRef & { readonly kind: 'workspace-intended' }
  | AttemptRef & { readonly kind: 'workspace-ready', readonly path: string, readonly workspace: 'shared' | 'clone' | 'worktree', readonly tree: string }
  | LaunchEntry
  | AttemptRef & { readonly kind: 'check-evidence', readonly evidence: Evidence }
  | AttemptRef & { readonly kind: 'verdict', readonly verdict: Verdict }
  | AttemptRef & { readonly kind: 'advice', readonly round: number, readonly result: 'decided' | 'illegal' | 'unreadable' | 'unavailable', readonly reason: string, readonly askFile: string | null, readonly answerFile: string | null }
  | AttemptRef & { readonly kind: 'decision', readonly round: number, readonly by: DecisionSource, readonly decision: Decision }
  | AttemptRef & { readonly kind: 'patch-intended', readonly round: number, readonly before: string, readonly after: string | null, readonly file: string }
  | AttemptRef & { readonly kind: 'patch-applied', readonly round: number, readonly result: 'applied' | 'suggested' | 'refused', readonly reason: string, readonly tree: string }
  | AttemptRef & { readonly kind: 'land-intended', readonly from: string | null, readonly to: string | null }
  | AttemptRef & { readonly kind: 'landed', readonly commit: string | null }
  | AttemptRef & { readonly kind: 'land-refused', readonly reason: 'conflict' | 'red' | 'moved', readonly message: string }
  | { readonly kind: 'pin-advanced', readonly task: TaskId, readonly checks: readonly string[] }
  | { readonly kind: 'handoff-opened', readonly task: TaskId, readonly attempt: number, readonly handoff: string, readonly reason: string }
  | { readonly kind: 'handoff-answered', readonly task: TaskId, readonly handoff: string, readonly answer: HandoffAnswer, readonly by: string, readonly note: string }
  | { readonly kind: 'control-received', readonly id: string, readonly command: string, readonly detail: string }
  | { readonly kind: 'warning', readonly task?: TaskId, readonly attempt?: number, readonly launch?: number, readonly code: string, readonly message: string }

export type EntryKind = Entry['kind']

/** Entries that must be durable before any effect of the same turn starts (SEMANTICS 6). */
export const SYNCED_ENTRIES: ReadonlySet<EntryKind> = new Set<EntryKind>([
  'launch-intended', 'patch-intended', 'land-intended', 'decision',
  'task-blocked', 'task-unblocked', 'task-split', 'task-cancelled', 'task-failed', 'task-accepted',
  'run-created', 'run-reopened', 'run-finished',
])
