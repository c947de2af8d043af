/** What a tree will be after some of its files are written: the fingerprint that tells a finished patch from one that was not begun. */
import { createHash } from 'node:crypto'
import { toSnapshot } from './tree-snapshot.ts'
import type { TreeSnapshot } from './workspace.ts'

/** Content null = the file is gone. Modes stay as they are; new files are not executable. Ignored files must not be among them: snapshots leave them out. */
export function plannedTree(before: TreeSnapshot, files: readonly { readonly path: string, readonly after: string | null }[]): TreeSnapshot {
  const hashes = new Map(before.files)
  for (const { path, after } of files) {
    if (after === null) hashes.delete(path)
    else hashes.set(path, `${before.files.get(path)?.startsWith('100755:') === true ? '100755' : '100644'}:${createHash('sha256').update(after).digest('hex')}`)
  }
  return toSnapshot(hashes)
}
