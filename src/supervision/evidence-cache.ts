/**
 * Evidence that was already earned, one file per key, shared by all runs of a repository. A cache: a damaged or missing file means that
 * the check runs again. Only grades that the same tree would earn again are kept; a timeout or a command that could not run is not.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { GRADES, type Evidence, type Grade } from '../core/evidence-types.ts'
import { writePrivateFile } from '../durable-file.ts'

export interface EvidenceCache {
  readonly get: (key: string) => Promise<Evidence | null>
  /** Keeps nothing for grades that may differ next time. Never rejects: a cache that can't be written costs a second run, no more. */
  readonly put: (evidence: Evidence) => Promise<void>
}

const KEPT: ReadonlySet<Grade> = new Set<Grade>(['passed', 'failed', 'vacuous'])

const evidenceSchema = z.strictObject({
  key: z.string(),
  check: z.string(),
  role: z.enum(['lint', 'typecheck', 'build', 'test', 'extra']),
  required: z.boolean(),
  command: z.string(),
  grade: z.enum(GRADES),
  reason: z.string(),
  exitCode: z.number().nullable(),
  signal: z.string().nullable(),
  durationMs: z.number(),
  tests: z.number().nullable(),
  logPath: z.string().nullable(),
  tail: z.string(),
  cached: z.boolean(),
})

/** In memory, for as long as its owner keeps it. */
export function createMemoryEvidenceCache(): EvidenceCache {
  const known = new Map<string, Evidence>()
  return {
    get: key => Promise.resolve(known.get(key) ?? null),
    put: (evidence) => {
      if (KEPT.has(evidence.grade)) known.set(evidence.key, evidence)
      return Promise.resolve()
    },
  }
}

/** On disk, for later runs too. `folder` is absolute. */
export function createEvidenceCache(folder: string): EvidenceCache {
  const fileOf = (key: string): string => join(folder, `${key}.json`)
  return {
    get: async key => {
      const parsed = evidenceSchema.safeParse(await readJson(fileOf(key)))
      return parsed.success && parsed.data.key === key && KEPT.has(parsed.data.grade) ? parsed.data : null
    },
    put: async evidence => {
      if (!KEPT.has(evidence.grade)) return
      try {
        await writePrivateFile(fileOf(evidence.key), `${JSON.stringify(evidence)}\n`)
      } catch {
        // A full or read-only disk: the evidence itself is in the journal.
      }
    },
  }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    // Absent or damaged: not in the cache.
    return null
  }
}
