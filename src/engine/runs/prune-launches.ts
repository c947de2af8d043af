/**
 * Drops the raw output of children of finished runs, oldest first, after 14 days or above 2 GB per repository (SEMANTICS 8).
 * Journal, report, prompts, check logs and diffs stay; a run without an end keeps everything.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from '../../errno.ts'
import type { RunFolder } from '../state/run-folder.ts'

export const KEEP_RAW_MS: number = 14 * 24 * 3_600_000
export const KEEP_RAW_BYTES: number = 2 * 1024 ** 3

const RAW_FILES: ReadonlySet<string> = new Set(['stdout.ndjson', 'stderr.log', 'output.log'])

export interface PruneLimits {
  /** Wall time, epoch ms. */
  readonly now: number
  readonly maxAgeMs: number
  readonly maxBytes: number
}

/** @param runs newest first. Returns the paths that were removed. */
export async function pruneLaunches(runs: readonly RunFolder[], limits: PruneLimits): Promise<readonly string[]> {
  const removed: string[] = []
  let kept = 0
  for (const run of runs) {
    const finishedAt = await finishTime(run)
    if (finishedAt === null) continue
    for (const file of await rawFiles(run.dir)) {
      const tooOld = limits.now - finishedAt > limits.maxAgeMs
      if (!tooOld && kept + file.bytes <= limits.maxBytes) {
        kept += file.bytes
        continue
      }
      await rm(file.path, { force: true })
      removed.push(file.path)
    }
  }
  return removed
}

/** Epoch ms; null for a run that has no end, or no report that tells. */
async function finishTime(run: RunFolder): Promise<number | null> {
  try {
    const { run: facts } = JSON.parse(await readFile(run.reportJson, 'utf8')) as { run: { status: string, finishedAt: string | null } }
    return facts.status === 'finished' && facts.finishedAt !== null ? Date.parse(facts.finishedAt) : null
  } catch (error) {
    if (isErrno(error, 'ENOENT') || error instanceof SyntaxError) return null
    throw error
  }
}

async function rawFiles(runDir: string): Promise<readonly { readonly path: string, readonly bytes: number }[]> {
  const files: { readonly path: string, readonly bytes: number }[] = []
  for (const entry of await readdir(runDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !RAW_FILES.has(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    files.push({ path, bytes: (await stat(path)).size })
  }
  return files
}
