/**
 * Whole files that survive a crash, and the two things around them: private creation and folder syncs.
 * The one place that does this; the journal, which is append-only, has its own writer.
 */
import { randomBytes } from 'node:crypto'
import { open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces `path` so that after a crash at any instant either the old content or the new one is there, never a part.
 * Mode 0600. A symbolic link at `path` is replaced, not followed. Rejects with the system error; then `path` is as it was.
 */
export async function writeFileDurable(path: string, data: string | Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    await writeNewFile(temporary, data)
    await rename(temporary, path)
  } catch (error) {
    await unlink(temporary).catch(ignoreAbsent)
    throw error
  }
  await syncFolder(dirname(path))
}

/** Creates `path` with mode 0600 and syncs its content; rejects with EEXIST when it exists. The folder is not synced. */
export async function writeNewFile(path: string, data: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(data)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes creations, renames and removals in `folder` durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The temporary file may not exist yet; a failed removal must not hide the first error. */
function ignoreAbsent(): void {}
