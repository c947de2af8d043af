/**
 * Applies an advisor's patch to a work tree: all files or none, with modes kept, or only writes it down (`suggest`, R-34, R-57).
 * Beside every changed file lie, while it works, the new content and the old file under fixed names, so that a later engine can undo what a
 * crash left half done. Does not know who decided on the patch and does not journal.
 */
import { constants } from 'node:fs'
import { chmod, copyFile, link, lstat, mkdir, open, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileEdit } from '../core/evidence-types.ts'
import { lookAtTarget, parentsFault, type PatchRoot, type Target } from './patch-paths.ts'
import { planEdits, renderPatch, type PatchPlan, type PlannedFile } from './patch-plan.ts'
import { writePrivateFile } from '../durable-file.ts'

export type PatchResult =
  | { readonly kind: 'applied' }
  /** Nothing is changed; each reason names its file. */
  | { readonly kind: 'refused', readonly reasons: readonly string[] }

/** Reads the current contents and plans. Never throws for what the edits say. */
export async function planPatch(at: PatchRoot, edits: readonly FileEdit[]): Promise<PatchPlan> {
  const current = new Map<string, string | null>()
  const reasons: string[] = []
  for (const path of new Set(edits.map(edit => edit.path))) {
    const target = await lookAtTarget(at, path)
    if (target.kind === 'refused') reasons.push(`${JSON.stringify(path)} ${target.reason}`)
    else current.set(path, target.kind === 'file' ? target.content : null)
  }
  return reasons.length > 0 ? { kind: 'refused', reasons } : planEdits(edits, current)
}

/** Writes the patch as a diff (0600), for a person or `git apply`; the tree stays as it is. */
export async function suggestPatch(file: string, files: readonly PlannedFile[]): Promise<void> {
  await writePrivateFile(file, renderPatch(files))
}

/**
 * For a patch that was intended and has no recorded outcome (SEMANTICS 6): finishes one that was applied, takes back a half applied one.
 * `before`: it may be applied now; `after`: it is applied; `other`: somebody else changed the files, nothing of ours is left in them.
 */
export async function recoverPatch(at: PatchRoot, files: readonly PlannedFile[]): Promise<'before' | 'after' | 'other'> {
  const staged = await Promise.all(files.map(file => isPresent(newPath(at, file))))
  if (!staged.includes(true) && await allAre(at, files, 'after')) {
    await removeOld(at, files)
    return 'after'
  }
  await undo(at, files)
  return await allAre(at, files, 'before') ? 'before' : 'other'
}

/** Refuses when a file is no longer what was planned on; rolls back when writing fails. */
export async function applyPatch(at: PatchRoot, files: readonly PlannedFile[]): Promise<PatchResult> {
  const reasons: string[] = []
  const modes = new Map<string, number>()
  for (const file of files) {
    const target = await lookAtTarget(at, file.path)
    if (target.kind === 'refused') reasons.push(`${JSON.stringify(file.path)} ${target.reason}`)
    else if (!isContent(target, file.before)) reasons.push(`${JSON.stringify(file.path)} changed since the patch was planned`)
    if (target.kind === 'file') modes.set(file.path, target.mode)
  }
  if (reasons.length > 0) return { kind: 'refused', reasons }
  const folders: string[] = []
  try {
    for (const file of files) await stage(at, file, modes.get(file.path), folders)
    for (const file of files) await swap(at, file)
  } catch (error) {
    await undo(at, files)
    for (const folder of folders.toReversed()) await rmdir(folder).catch(() => { /* Somebody put something into it: it stays. */ })
    return { kind: 'refused', reasons: [`the files could not be written: ${error instanceof Error ? error.message : String(error)}`] }
  }
  await removeOld(at, files)
  return { kind: 'applied' }
}

async function allAre(at: PatchRoot, files: readonly PlannedFile[], side: 'before' | 'after'): Promise<boolean> {
  const targets = await Promise.all(files.map(file => lookAtTarget(at, file.path)))
  return files.every((file, index) => isContent(targets[index], file[side]))
}

async function removeOld(at: PatchRoot, files: readonly PlannedFile[]): Promise<void> {
  for (const file of files) await rm(oldPath(at, file), { force: true })
}

/** From whatever point the application reached before its last swap; safe to repeat, and where nothing was begun. */
async function undo(at: PatchRoot, files: readonly PlannedFile[]): Promise<void> {
  for (const file of files) {
    if (await parentsFault(at.root, file.path) !== null) continue
    const path = join(at.root, file.path)
    if (await isPresent(oldPath(at, file))) {
      await rename(oldPath(at, file), path)
      // Two names of one file: the rename did nothing and left both.
      await rm(oldPath(at, file), { force: true })
    }
    else if (file.before === null && isContent(await lookAtTarget(at, file.path), file.after)) await rm(path, { force: true })
    if (await isPresent(newPath(at, file))) await rm(newPath(at, file))
  }
}

async function stage(at: PatchRoot, file: PlannedFile, mode: number | undefined, folders: string[]): Promise<void> {
  await makeFolders(dirname(join(at.root, file.path)), folders)
  if (file.before !== null) {
    await rm(oldPath(at, file), { force: true })
    await keepOld(join(at.root, file.path), oldPath(at, file))
  }
  if (file.after === null) return
  await rm(newPath(at, file), { force: true })
  const handle = await open(newPath(at, file), 'wx', mode ?? 0o666)
  try {
    await handle.writeFile(file.after)
    await handle.sync()
  } finally {
    await handle.close()
  }
  if (mode !== undefined) await chmod(newPath(at, file), mode)
}

/** A second name costs nothing; file systems without them get a copy. */
async function keepOld(path: string, old: string): Promise<void> {
  try {
    await link(path, old)
  } catch {
    // No hard links here. A path that can't be copied either fails now.
    await copyFile(path, old, constants.COPYFILE_EXCL)
  }
}

async function swap(at: PatchRoot, file: PlannedFile): Promise<void> {
  const path = join(at.root, file.path)
  if (file.after === null) await rm(path)
  else await rename(newPath(at, file), path)
}

async function makeFolders(folder: string, made: string[]): Promise<void> {
  if (await isPresent(folder)) return
  await makeFolders(dirname(folder), made)
  await mkdir(folder)
  made.push(folder)
}

const newPath = (at: PatchRoot, file: PlannedFile): string => `${join(at.root, file.path)}.oc-patch-new`
const oldPath = (at: PatchRoot, file: PlannedFile): string => `${join(at.root, file.path)}.oc-patch-old`

function isContent(target: Target | undefined, content: string | null): boolean {
  return content === null ? target?.kind === 'absent' : target?.kind === 'file' && target.content === content
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch {
    // Absent is the answer.
    return false
  }
}
