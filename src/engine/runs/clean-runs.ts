/** `clean`: removes finished runs with the sessions they made. A run without an end, or with a living owner, is kept and says why. */
import { readdir, rm } from 'node:fs/promises'
import type { ConfigWithOrigins } from '../../core/config-types.ts'
import { openclaudeEnv } from '../../executor/process/child-env.ts'
import { removeSessions, sessionStore } from '../../executor/openclaude/sessions.ts'
import { acquireLock } from '../state/lock.ts'
import { readRunSnapshot, type RunSnapshot } from './read-run.ts'
import { findRun, listRuns, type RunFolder } from '../state/run-folder.ts'
import { openRepository, resolveStateDir } from '../state/state-dir.ts'

export interface CleanRequest {
  readonly config: ConfigWithOrigins
  /** Null = all runs of the repository. */
  readonly run: string | null
  readonly olderThanMs: number
  /** Wall time, epoch ms. */
  readonly now: number
  readonly dryRun: boolean
}

export interface CleanedRun {
  readonly run: string
  /** Why it was kept; null = removed (or would be, in a dry run). */
  readonly kept: string | null
}

/** @throws OC_RUN_UNKNOWN for a named run that does not exist; OC_LOCK_HELD while an engine works in the repository. */
export async function cleanRuns(request: CleanRequest): Promise<readonly CleanedRun[]> {
  const { config } = request.config
  const place = await openRepository(resolveStateDir(config.stateDir), config.workdir)
  const runs = request.run === null ? await listRuns(place) : [await findRun(place, request.run)]
  if (runs.length === 0) return []
  const lock = await acquireLock(place.dir)
  try {
    const cleaned: CleanedRun[] = []
    for (const run of runs) cleaned.push(await cleanRun(run, request))
    return cleaned
  } finally {
    await lock.release()
  }
}

async function cleanRun(run: RunFolder, request: CleanRequest): Promise<CleanedRun> {
  const snapshot = await readRunSnapshot(run, null, { missing: 'ignore' })
  const kept = snapshot === null ? await whyKeepDamaged(run) : whyKeep(snapshot, request)
  if (kept !== null || request.dryRun) return { run: run.id, kept }
  if (snapshot !== null) await forget(snapshot, request)
  await rm(run.dir, { recursive: true, force: true })
  return { run: run.id, kept: null }
}

/** A folder whose creation was cut short holds nothing of worth; one that holds more than that is for a person. */
async function whyKeepDamaged(run: RunFolder): Promise<string | null> {
  const names = await readdir(run.dir)
  return names.every(name => name === 'run.json') ? null : 'its run.json or journal is missing, but other files are there'
}

function whyKeep({ history }: RunSnapshot, request: CleanRequest): string | null {
  if (history.result === null) return 'it is not finished; resume or abort it first'
  const ended = history.finishedAt === null ? request.now : Date.parse(history.finishedAt)
  return request.now - ended >= request.olderThanMs ? null : 'it ended too recently'
}

async function forget({ history }: RunSnapshot, request: CleanRequest): Promise<void> {
  const store = sessionStore(openclaudeEnv({ mode: 'inherit', caller: process.env, config: request.config.config }))
  if (store === null) return
  const sessions = history.tasks.flatMap(task => task.attempts).flatMap(attempt => attempt.launches).map(launch => launch.sessionId)
  await removeSessions(store, sessions)
}
