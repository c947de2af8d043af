/** The contract of a workspace: where an attempt works, what its tree looks like, and how accepted work gets to the run. */

/** Content of a work tree at one moment: path (forward slashes, relative) to content hash. Ignored files and `.git` are not part of it. */
export interface TreeSnapshot {
  /** Hash over all paths and contents. */
  readonly fingerprint: string
  readonly files: ReadonlyMap<string, string>
}

export interface Workspace {
  readonly kind: 'shared' | 'clone' | 'worktree'
  /** Absolute real path of the tree's root. */
  readonly root: string
  /** Absolute working directory of children and checks, inside the root. */
  readonly cwd: string
}

export type LandResult =
  | { readonly kind: 'landed', readonly commit: string | null }
  | { readonly kind: 'refused', readonly reason: 'conflict' | 'red' | 'moved', readonly message: string }

export interface WorkspaceProvider {
  readonly kind: Workspace['kind']
  /** Idempotent: the same task and attempt give the same path. */
  readonly prepare: (task: string, attempt: number, options: { readonly freshTree: boolean }) => Promise<Workspace>
  readonly snapshot: (workspace: Workspace) => Promise<TreeSnapshot>
  readonly land: (task: string, attempt: number, workspace: Workspace) => Promise<LandResult>
}
