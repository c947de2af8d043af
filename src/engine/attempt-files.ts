/** Where the files of a task and its attempts lie inside a run directory (SEMANTICS 8), and the tree snapshots kept there. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TreeSnapshot } from '../workspace/workspace.ts'
import { writeFileDurable } from './durable-file.ts'

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

export async function writeTree(file: string, tree: TreeSnapshot): Promise<void> {
  await writeFileDurable(file, JSON.stringify({ fingerprint: tree.fingerprint, files: [...tree.files] }))
}

/** Null when the file is missing: the snapshot is a help for findings, never the only copy of a fact. */
export async function readTree(file: string): Promise<TreeSnapshot | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
  const { fingerprint, files } = JSON.parse(text) as { fingerprint: string, files: [string, string][] }
  return { fingerprint, files: new Map(files) }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
