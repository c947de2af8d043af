/** What a tree will be after some of its files are written: the fingerprint that tells a finished patch from one that was not begun. */
import { createHash } from 'node:crypto'
import { toSnapshot } from './tree-snapshot.ts'
import type { TreeSnapshot } from './workspace.ts'

interface WrittenFile {
  readonly path: string
  /** null = the file is gone. */
  readonly after: string | null
}

/** Modes stay as they are; new files are not executable. Ignored files must not be among them: snapshots leave them out. */
export function plannedTree(before: TreeSnapshot, files: readonly WrittenFile[]): TreeSnapshot {
  const hashes = new Map(before.files)
  for (const { path, after } of files) {
    const mode = before.files.get(path)?.startsWith('100755:') === true ? '100755' : '100644'
    if (after === null) hashes.delete(path)
    else hashes.set(path, `${mode}:${createHash('sha256').update(after).digest('hex')}`)
  }
  return toSnapshot(hashes)
}
