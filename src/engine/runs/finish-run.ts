/** The end of driving a run: reports, sessions, journal, spool and lock, in this order. The lock goes last, so that nobody meets half-closed files. */
import { rm } from 'node:fs/promises'
import type { ExecutorRegistry } from '../../executor/registry.ts'
import type { RunHistory } from '../../report/history.ts'
import type { FinishedRun } from './active-run.ts'
import type { Engine } from '../drive/engine.ts'
import type { Journal } from '../journal/writer.ts'
import type { RepositoryLock } from '../state/lock.ts'
import { reportOf } from './read-run.ts'
import type { RunFile } from '../state/run-file.ts'
import type { RunFolder } from '../state/run-folder.ts'
import type { RunControlWatch } from './watch-run.ts'
import { writeReports } from './write-reports.ts'

export interface FinishOptions {
  readonly engine: Engine
  readonly journal: Journal
  readonly control: RunControlWatch
  readonly history: RunHistory
  readonly file: RunFile
  readonly folder: RunFolder
  readonly lock: RepositoryLock
  readonly executors: ExecutorRegistry
  /** Removed in the end; null = the run is kept. */
  readonly transient: string | null
}

/** Rejects when the journal or the engine failed; the lock is released in every case. */
export async function finishRun(options: FinishOptions): Promise<FinishedRun> {
  const { engine, history, file, folder } = options
  try {
    const end = await engine.finished
    await options.control.close()
    if (end.kind === 'finished' && !file.config.keepSessions) await forgetSessions(options)
    await options.journal.close()
    const report = reportOf(folder.dir, file, history)
    if (options.transient === null) await writeReports(folder.dir, report)
    return { end, history, report, runDir: options.transient === null ? folder.dir : null }
  } finally {
    await options.control.close()
    // Of a journal that failed, this is told already; a descriptor left open would outlive the lock.
    await options.journal.close().catch(() => undefined)
    await options.lock.release()
    if (options.transient !== null) await rm(options.transient, { recursive: true, force: true })
  }
}

/** Sessions of accepted attempts were minted by us and have served; those of failed ones stay, a person may want to look. */
async function forgetSessions({ history, executors, file }: FinishOptions): Promise<void> {
  const byExecutor = new Map<string, { readonly sessionId: string, readonly cwd: string }[]>()
  for (const task of history.tasks) {
    if (task.status !== 'accepted') continue
    const sessions = byExecutor.get(task.spec.assignee) ?? []
    for (const launch of task.attempts.at(-1)?.launches ?? []) sessions.push({ sessionId: launch.sessionId, cwd: file.workdir })
    byExecutor.set(task.spec.assignee, sessions)
  }
  for (const [name, sessions] of byExecutor) {
    if (sessions.length > 0) await executors.get(name)?.forget?.(sessions)
  }
}
