/**
 * The shared tree: every attempt works in the work directory itself. Nothing is prepared, nothing has to be brought home.
 * Its root is the work directory, not the top of an enclosing repository, so that a project inside a large one stays cheap to look at.
 */
import { realpath, stat } from 'node:fs/promises'
import { OpenClaudeError } from '../errors.ts'
import { createTreeSnapshotter } from './tree-snapshot.ts'
import type { Workspace, WorkspaceProvider } from './workspace.ts'

/** Throws `OC_WORKDIR_INVALID` when `workdir` is missing or is no directory. */
export async function createSharedWorkspace(workdir: string): Promise<WorkspaceProvider> {
  const root = await realWorkdir(workdir)
  const origin = await stat(root)
  /** One look where nothing has moved, which is nearly always; the whole way otherwise. */
  const isUnmoved = async (path: string): Promise<boolean> => {
    const now = await stat(path).catch(() => null)
    return now !== null && now.ino === origin.ino && now.dev === origin.dev
  }
  const workspace: Workspace = { kind: 'shared', root, cwd: root }
  const snapshotter = createTreeSnapshotter(root)
  return {
    kind: 'shared',
    /** Throws `OC_WORKDIR_INVALID` when the tree vanished or is another one since the run started (F32). */
    prepare: async () => {
      if (!await isUnmoved(workdir) && await realWorkdir(workdir) !== root) {
        throw new OpenClaudeError('OC_WORKDIR_INVALID', `${workdir} no longer leads to ${root}`, {
          subject: workdir, fix: 'Put the work directory back where it was.',
        })
      }
      return workspace
    },
    snapshot: async () => {
      if (!await isUnmoved(root)) await realWorkdir(root)
      return snapshotter.snapshot()
    },
    land: async () => ({ kind: 'landed', commit: null }),
  }
}

async function realWorkdir(workdir: string): Promise<string> {
  const seen = await lookAt(workdir)
  if (seen.kind === 'folder') return seen.path
  const rule = seen.kind === 'absent' ? 'does not exist' : 'is no directory'
  throw new OpenClaudeError('OC_WORKDIR_INVALID', `The work directory ${workdir} ${rule}`, {
    subject: workdir, fix: 'Name an existing directory with --workdir.', cause: seen.kind === 'absent' ? seen.cause : undefined,
  })
}

type Seen =
  | { readonly kind: 'folder', readonly path: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'absent', readonly cause: unknown }

async function lookAt(workdir: string): Promise<Seen> {
  try {
    const path = await realpath(workdir)
    return (await stat(path)).isDirectory() ? { kind: 'folder', path } : { kind: 'other' }
  } catch (cause) {
    return { kind: 'absent', cause }
  }
}
