/**
 * Where a patch may write: regular files below the real root, reached through real folders. Links are refused, never followed.
 * Reads names and contents; writes nothing.
 */
import { constants, type Stats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { isUtf8 } from 'node:buffer'
import { pathFault } from './patch-plan.ts'

export interface PatchRoot {
  /** Absolute real path of the work tree. */
  readonly root: string
  /** Absolute folders that hold state of ours; a patch never reaches into them. */
  readonly forbidden: readonly string[]
}

export type Target =
  | { readonly kind: 'file', readonly content: string, readonly mode: number }
  | { readonly kind: 'absent' }
  /** One clause that follows the path. */
  | { readonly kind: 'refused', readonly reason: string }

const MAX_FILE_BYTES = 8 * 1024 * 1024

export async function lookAtTarget({ root, forbidden }: PatchRoot, path: string): Promise<Target> {
  const fault = pathFault(path)
  if (fault !== null) return refused(fault)
  const absolute = join(root, path)
  if (forbidden.some(folder => isWithin(absolute, resolve(folder)))) return refused('is inside the state directory')
  const parents = await parentsFault(root, path)
  if (parents !== null) return refused(parents)
  const stats = await statOf(absolute)
  if (stats === null) return { kind: 'absent' }
  if (stats.isSymbolicLink()) return refused('is a symbolic link')
  if (!stats.isFile()) return refused('is no regular file')
  if (stats.size > MAX_FILE_BYTES) return refused(`is larger than ${MAX_FILE_BYTES} bytes`)
  const bytes = await readRegular(absolute)
  if (bytes === null || !isUtf8(bytes)) return refused('is not readable as UTF-8 text')
  return { kind: 'file', content: bytes.toString('utf8'), mode: stats.mode & 0o7777 }
}

/** Null = every folder on the way that exists is a real one. */
export async function parentsFault(root: string, path: string): Promise<string | null> {
  let folder = root
  for (const part of path.split('/').slice(0, -1)) {
    folder = join(folder, part)
    const stats = await statOf(folder)
    if (stats === null) return null
    if (stats.isSymbolicLink()) return 'passes through a symbolic link'
    if (!stats.isDirectory()) return 'passes through something that is no folder'
  }
  return null
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`)
}

async function statOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path)
  } catch {
    // Absent, or behind something we may not enter: then writing there fails and is rolled back.
    return null
  }
}

async function readRegular(path: string): Promise<Buffer | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch {
    // Replaced since its stat, or not ours to read: refused by the caller.
    return null
  }
}

function refused(reason: string): Target {
  return { kind: 'refused', reason }
}
