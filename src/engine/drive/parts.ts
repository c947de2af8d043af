/** The parts an engine drives, as one interface: what is real is put together in `assemble.ts`; tests put in their own. */
import type { TaskSpec } from '../../core/graph-types.ts'
import type { FileEdit } from '../../core/evidence-types.ts'
import type { Executor } from '../../executor/executor.ts'
import type { Advisor, Judge } from '../../supervision/ports.ts'
import type { TreeSnapshot, Workspace, WorkspaceProvider } from '../../workspace/workspace.ts'

export interface PatchPlan {
  /** Fingerprint of the tree the patch was planned on. */
  readonly before: string
  /** Hash of the planned contents; null = the patch is only suggested. */
  readonly after: string | null
  /** Relative to the run directory: the patch as a diff for people. */
  readonly file: string
}

export interface PatchRequest {
  readonly workspace: Workspace
  readonly edits: readonly FileEdit[]
  /** Absolute folder of the attempt, and the run directory that `file` is relative to. */
  readonly attemptDir: string
  readonly runDir: string
  readonly round: number
  readonly snapshot: () => Promise<TreeSnapshot>
}

export interface PatchResult {
  readonly result: 'applied' | 'suggested' | 'refused'
  readonly reason: string
}

export interface PatchPort {
  readonly plan: (request: PatchRequest) => Promise<PatchPlan | { readonly refused: string }>
  /** Carries out a planned patch. Safe to repeat after a crash: a tree that already has it counts as applied. */
  readonly apply: (request: PatchRequest, plan: PatchPlan) => Promise<PatchResult>
}

export interface EngineParts {
  readonly executor: (name: string) => Executor | undefined
  readonly workspace: WorkspaceProvider
  readonly judge: Judge
  readonly advisor: Advisor | null
  /** Takes in scripts that landed work added where a check had nothing to run; names the checks that count from now on (SEMANTICS 10). */
  readonly repin: () => Promise<readonly string[]>
  readonly patches: PatchPort
  /** Project context for the prompt of a task, within the token cap. */
  readonly context: (task: TaskSpec, workspace: Workspace) => Promise<string>
  /** Unified diff between two snapshots of a workspace, capped. */
  readonly diff: (workspace: Workspace, before: TreeSnapshot, after: TreeSnapshot) => Promise<string>
  /** Replaces secret values. */
  readonly redact: (text: string) => string
}
