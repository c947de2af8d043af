/** Where the files of a task and its attempts lie inside a run directory (SEMANTICS 8), and the tree snapshots kept there while a task is open. */
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TreeSnapshot } from '../../workspace/workspace.ts'
import { isErrno } from '../../errno.ts'

/** The tree as it was before the work: in the attempt's folder before that attempt, in the task's folder before its first one. */
const TREE_FILE = 'before.json'

export function taskDir(runDir: string, index: number, task: string): string {
  return join(runDir, `t${index}-${task}`)
}

export function attemptDir(runDir: string, index: number, task: string, attempt: number): string {
  return join(taskDir(runDir, index, task), `a${attempt}`)
}

export async function ensurePrivateDir(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  return dir
}

/** Whole or not at all, but not synced: these files help people and findings, none is the only copy of a fact. */
export async function writeAttemptFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

export function writeTree(dir: string, tree: TreeSnapshot): Promise<void> {
  return writeAttemptFile(join(dir, TREE_FILE), JSON.stringify({ fingerprint: tree.fingerprint, files: [...tree.files] }))
}

/** Gives `to` the tree of `from`, as a second name of the same file: they are replaced, never written into. `keep`: unless `to` has one. */
export async function shareTree(from: string, to: string, present: 'keep' | 'replace'): Promise<void> {
  if (present === 'replace') await rm(join(to, TREE_FILE), { force: true })
  try {
    await link(join(from, TREE_FILE), join(to, TREE_FILE))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Null when there is none. */
export async function readTree(dir: string): Promise<TreeSnapshot | null> {
  let text: string
  try {
    text = await readFile(join(dir, TREE_FILE), 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
  const { fingerprint, files } = JSON.parse(text) as { fingerprint: string, files: [string, string][] }
  return { fingerprint, files: new Map(files) }
}

/** An accepted task needs its snapshots no more; in a large repository they are the bulk of a run directory. */
export async function dropTrees(runDir: string, index: number, task: string, lastAttempt: number): Promise<void> {
  const attempts = Array.from({ length: lastAttempt }, (_, before) => attemptDir(runDir, index, task, before + 1))
  for (const dir of [taskDir(runDir, index, task), ...attempts]) await rm(join(dir, TREE_FILE), { force: true })
}
