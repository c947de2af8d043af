/**
 * Folders and ids of runs, attempts and launches (SEMANTICS 8). A run id is its start time and four random characters; it is never
 * used twice, and ids sort in the order in which their runs were created.
 */
import { randomInt } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { OpenClaudeError } from '../../errors.ts'
import { syncFolder } from './durable-file.ts'
import { ensurePrivateFolder } from './private-folder.ts'
import type { RepositoryPlace } from './state-dir.ts'

export interface RunFolder {
  readonly id: string
  readonly dir: string
  readonly journalPath: string
  /** Graph, configuration with origins and pins as they were when the run started; written once. */
  readonly runFile: string
  readonly reportJson: string
  readonly reportMarkdown: string
}

const RUN_ID = /^\d{8}-\d{6}-[a-z0-9]{4}$/
const SUFFIX_CHARACTERS = 'abcdefghjkmnpqrstuvwxyz0123456789'

/** Creates the folder of a new run, exclusively. Its id is newer than that of every run of the repository, also after the wall clock went back. */
export async function createRun(place: RepositoryPlace, now: Date = new Date()): Promise<RunFolder> {
  for (;;) {
    const [newest] = await listRuns(place)
    const id = `${laterStamp(stampOf(now), newest?.id)}-${randomSuffix()}`
    const run = runFolder(place, id)
    try {
      await mkdir(run.dir, { mode: 0o700 })
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') continue
      throw new OpenClaudeError('OC_STATE_DIR', `The folder of a new run can't be created: ${error instanceof Error ? error.message : String(error)}.`, {
        subject: run.dir, fix: 'Choose another folder with --state-dir, or make this one writable.', cause: error,
      })
    }
    await syncFolder(place.runsDir)
    return run
  }
}

/** All runs of the repository, newest first. Empty when the repository has no state yet. */
export async function listRuns(place: RepositoryPlace): Promise<readonly RunFolder[]> {
  let names: readonly string[]
  try {
    names = await readdir(place.runsDir)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
  return names.filter(name => RUN_ID.test(name)).sort().reverse().map(id => runFolder(place, id))
}

/**
 * The run with that id, or with an id that begins or ends so and is the only one; empty = the newest run.
 * @throws OC_RUN_UNKNOWN naming the candidates.
 */
export async function findRun(place: RepositoryPlace, text = ''): Promise<RunFolder> {
  const runs = await listRuns(place)
  const exact = runs.find(run => run.id === text)
  if (exact !== undefined) return exact
  const found = text === '' ? runs.slice(0, 1) : runs.filter(run => run.id.startsWith(text) || run.id.endsWith(`-${text}`))
  const [only, second] = found
  if (only !== undefined && second === undefined) return only
  throw unknownRun(text, found.length > 1 ? found : runs, found.length > 1)
}

/** `t<index>-<taskId>/a<attempt>` below the run, created 0700. */
export async function ensureAttemptFolder(run: RunFolder, task: { readonly index: number, readonly id: string }, attempt: number): Promise<string> {
  const taskDir = join(run.dir, `t${task.index}-${task.id}`)
  await ensurePrivateFolder(taskDir)
  const dir = join(taskDir, `a${attempt}`)
  await ensurePrivateFolder(dir)
  return dir
}

export function launchFolder(attemptDir: string, launch: number): string {
  return join(attemptDir, `l${launch}`)
}

function runFolder(place: RepositoryPlace, id: string): RunFolder {
  const dir = join(place.runsDir, id)
  return {
    id, dir,
    journalPath: join(dir, 'journal.ndjson'), runFile: join(dir, 'run.json'),
    reportJson: join(dir, 'report.json'), reportMarkdown: join(dir, 'report.md'),
  }
}

/** `yyyymmdd-hhmmss`, UTC. */
function stampOf(time: Date): string {
  return time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
}

function laterStamp(stamp: string, newestId: string | undefined): string {
  const newest = newestId?.slice(0, stamp.length)
  if (newest === undefined || stamp > newest) return stamp
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/.exec(newest) ?? []
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(time) ? stamp : stampOf(new Date(time + 1000))
}

function randomSuffix(): string {
  return Array.from({ length: 4 }, () => SUFFIX_CHARACTERS[randomInt(SUFFIX_CHARACTERS.length)]).join('')
}

function unknownRun(text: string, candidates: readonly RunFolder[], ambiguous: boolean): OpenClaudeError {
  const names = candidates.slice(0, 5).map(run => run.id).join(', ')
  if (candidates.length === 0) {
    return new OpenClaudeError('OC_RUN_UNKNOWN', 'This repository has no run yet.', { subject: text, fix: 'Start one with `dsh-openclaude run <graph>`.' })
  }
  const what = ambiguous ? `fits several runs: ${names}` : `is no run of this repository. The newest: ${names}`
  return new OpenClaudeError('OC_RUN_UNKNOWN', `"${text}" ${what}.`, { subject: text, fix: 'Give the full id, or enough of it.' })
}
