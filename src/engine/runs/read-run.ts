/** Reads a run without touching it: its file, the fold of its journal, its report. Works while an engine writes. */
import type { AttemptHistory, LaunchHistory } from '../../report/attempt-history.ts'
import type { RunHistory, TaskHistory } from '../../report/history.ts'
import { applyToHistory, newHistory } from '../../report/history.ts'
import { buildReport } from '../../report/build-report.ts'
import type { Report } from '../../report/report-schema.ts'
import { isErrno } from '../../errno.ts'
import { readJournal } from '../journal/reader.ts'
import type { LockOwner } from '../state/lock-owner.ts'
import type { RunFolder } from '../state/run-folder.ts'
import { readRunFile, type RunFile } from '../state/run-file.ts'

export interface RunSnapshot {
  readonly runDir: string
  readonly file: RunFile
  readonly history: RunHistory
  readonly report: Report
  /** The engine that drives the run now. */
  readonly owner: { readonly pid: number, readonly since: string } | null
}

/** `newer: 'read'`: for views only, what can be understood of a journal that a newer version wrote (F33). */
export async function readRunSnapshot(folder: RunFolder, owner: LockOwner | null, options?: { readonly newer: 'read' }): Promise<RunSnapshot>
/** `missing: 'ignore'`: null for a run whose creation was cut short before its file or journal existed. */
export async function readRunSnapshot(folder: RunFolder, owner: LockOwner | null, options: { readonly missing: 'ignore' }): Promise<RunSnapshot | null>
export async function readRunSnapshot(
  folder: RunFolder,
  owner: LockOwner | null,
  options: { readonly missing?: 'ignore', readonly newer?: 'read' } = {},
): Promise<RunSnapshot | null> {
  let file: RunFile
  let history: RunHistory
  try {
    file = await readRunFile(folder.dir)
    history = await readHistory(folder, file, options.newer === 'read')
  } catch (error) {
    if (options.missing === 'ignore' && isNeverCreated(error)) return null
    throw error
  }
  return {
    runDir: folder.dir, file, history,
    report: reportOf(folder.dir, file, history),
    owner: owner === null ? null : { pid: owner.identity.pid, since: owner.since },
  }
}

async function readHistory(folder: RunFolder, file: RunFile, allowNewer: boolean): Promise<RunHistory> {
  const history = newHistory(folder.id, file.graph)
  await readJournal(folder.journalPath, record => applyToHistory(history, { at: record.header.at, entry: record.entry }), { allowNewer })
  return history
}

function isNeverCreated(error: unknown): boolean {
  return isErrno(error, 'ENOENT') || (error instanceof Error && isErrno(error.cause, 'ENOENT'))
}

export function reportOf(runDir: string, file: RunFile, history: RunHistory): Report {
  return buildReport(history, {
    workdir: file.workdir,
    graphPath: file.graphPath,
    graphSha256: file.graphSha256,
    directory: runDir,
    product: `dsh-openclaude ${file.version}`,
    resumeCommand: (task, launch) => resumeCommand(file, task, launch),
  })
}

/** Sessions of accepted attempts are removed when the run ends, unless `keepSessions` is set. */
function resumeCommand(file: RunFile, task: TaskHistory, launch: LaunchHistory): string | null {
  if (task.spec.assignee !== 'openclaude' || file.config.noSessionPersistence) return null
  if (!file.config.keepSessions && task.status === 'accepted' && isOfAcceptedAttempt(task.attempts.at(-1), launch)) return null
  return `cd ${file.workdir} && ${file.config.executable.join(' ')} --resume ${launch.sessionId}`
}

function isOfAcceptedAttempt(attempt: AttemptHistory | undefined, launch: LaunchHistory): boolean {
  return attempt?.launches.some(candidate => candidate.sessionId === launch.sessionId) ?? false
}
