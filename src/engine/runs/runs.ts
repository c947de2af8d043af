/**
 * The commands on runs, by the table of SEMANTICS 11: start, resume, control, read. Owns who may do what to a run in which state;
 * driving it is `engine.ts`, opening its files `open-run.ts`.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConfigWithOrigins } from '../../core/config-types.ts'
import type { RunResult } from '../../core/entry-types.ts'
import type { Graph } from '../../core/graph-types.ts'
import type { ControlCommand } from '../../core/run-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import type { Executor } from '../../executor/executor.ts'
import type { EnvMode } from '../../executor/process/child-env.ts'
import type { AdvisorModel } from '../../supervision/ports.ts'
import type { ActiveRun } from './active-run.ts'
import { sendControl } from './control-spool.ts'
import type { EngineObserver } from '../drive/engine.ts'
import { acquireLock, type RepositoryLock } from '../state/lock.ts'
import { findLiveOwner } from '../state/lock-owner.ts'
import { createNewRun, openExistingRun, type DriveContext } from './open-run.ts'
import { readRunSnapshot, type RunSnapshot } from './read-run.ts'
import { findRun, listRuns, type RunFolder } from '../state/run-folder.ts'
import { locateRepository, openRepository, resolveStateDir, type RepositoryPlace } from '../state/state-dir.ts'

export interface RunsContext {
  readonly config: ConfigWithOrigins
  readonly version: string
  readonly observers: readonly EngineObserver[]
  /** Default `inherit`: the command passes the caller's environment on; DSH uses the allow-list. */
  readonly envMode?: EnvMode
  readonly executors?: readonly Executor[]
  readonly hostModel?: AdvisorModel
}

export interface StartRequest extends RunsContext {
  readonly graph: Graph
  /** Absolute; null for a request. */
  readonly graphPath: string | null
  /** `run --new`: an interrupted run is aborted first. */
  readonly abortInterrupted?: boolean
}

/** A new run, ready to start. @throws OC_LOCK_HELD with a live owner; OC_RUN_STATE when the newest run is interrupted and `abortInterrupted` is not set. */
export async function startRun(request: StartRequest): Promise<ActiveRun> {
  if (!request.config.config.persistence) return startTransientRun(request)
  const place = await openPlace(request)
  const started = await withLock(place, async (lock) => {
    const unfinished = await unfinishedRun(place)
    if (unfinished === null) return { kind: 'new', run: await createNewRun(driveContext(request, place, lock), request.graph, request.graphPath) } as const
    if (!unfinished.hasResult && request.abortInterrupted !== true) throw interrupted(unfinished.folder)
    const control = unfinished.hasResult ? null : { by: 'run --new', command: { kind: 'abort' } as const }
    return { kind: 'old', run: await openExistingRun(driveContext({ ...request, observers: [] }, place, lock), unfinished.folder, control) } as const
  })
  if (started.kind === 'new') return started.run
  started.run.start()
  await started.run.finished
  return startRun({ ...request, abortInterrupted: false })
}

/**
 * `persistence: false`: the journal lives in memory and everything else in a temporary folder, which goes when the run ends.
 * No lock and no folder of the repository is touched.
 */
async function startTransientRun(request: StartRequest): Promise<ActiveRun> {
  const { config, origins, warnings } = request.config
  const transient = await mkdtemp(join(await realpath(tmpdir()), 'dsh-openclaude-run-'))
  const unkept: ConfigWithOrigins = {
    origins,
    config: { ...config, stateDir: transient, onEngineDeath: 'end' },
    warnings: [...warnings, 'persistence is off: status, resume and adoption are unavailable for this run; its files go when it ends, its children when the engine does'],
  }
  try {
    const place = await openRepository(transient, config.workdir)
    return await withLock(place, lock => createNewRun({ ...driveContext({ ...request, config: unkept }, place, lock), transient }, request.graph, request.graphPath))
  } catch (error) {
    await rm(transient, { recursive: true, force: true })
    throw error
  }
}

export type ResumedRun =
  | { readonly kind: 'active', readonly active: ActiveRun }
  | { readonly kind: 'finished', readonly run: string, readonly result: RunResult }

/** Goes on with an interrupted run. @throws OC_RUN_UNKNOWN, OC_LOCK_HELD, OC_LOCK_FOREIGN, OC_JOURNAL_*. */
export async function resumeRun(request: RunsContext & { readonly run: string | null }): Promise<ResumedRun> {
  const place = await openPlace(request)
  const folder = await findRun(place, request.run ?? '')
  const snapshot = await readRunSnapshot(folder, null)
  const { result } = snapshot.history
  // An engine that died between the end of the run and its own may have left children, landings, reports.
  if (result !== null && await isOver(place, snapshot)) return { kind: 'finished', run: folder.id, result }
  return { kind: 'active', active: await withLock(place, lock => openExistingRun(driveContext(request, place, lock), folder, null)) }
}

export type SentControl =
  | { readonly kind: 'delivered', readonly run: string, readonly pid: number }
  | { readonly kind: 'nothing', readonly run: string, readonly message: string }
  /** No engine was there: this process took the run and carries the command out. */
  | { readonly kind: 'active', readonly active: ActiveRun }

/** A person's command for a run: through the spool of its live engine, or by taking the run over. */
export async function controlRun(request: RunsContext & {
  readonly run: string | null
  readonly by: string
  readonly command: ControlCommand
}): Promise<SentControl> {
  const place = await openPlace(request)
  const folder = await findRun(place, request.run ?? '')
  const snapshot = await readRunSnapshot(folder, null)
  requireTask(request.command, snapshot)
  const owner = await findLiveOwner(place.dir)
  if (owner !== null && await drives(place, folder)) {
    await sendControl(place.controlDir, { run: folder.id, command: request.command, by: request.by })
    return { kind: 'delivered', run: folder.id, pid: owner.identity.pid }
  }
  if (request.command.kind === 'abort' && snapshot.history.result !== null && await isOver(place, snapshot)) {
    return { kind: 'nothing', run: folder.id, message: `run ${folder.id} is finished already; there is nothing to abort` }
  }
  const control = { by: request.by, command: request.command }
  return { kind: 'active', active: await withLock(place, lock => openExistingRun(driveContext(request, place, lock), folder, control)) }
}

/** Read only; works while an engine drives the run. Null when the repository has no run and none was named. */
export async function readRun(run: string | null, config: ConfigWithOrigins): Promise<RunSnapshot | null> {
  const place = await locateRepository(resolveStateDir(config.config.stateDir), config.config.workdir)
  if (run === null && (await listRuns(place)).length === 0) return null
  const folder = await findRun(place, run ?? '')
  const owner = await drives(place, folder) ? await findLiveOwner(place.dir) : null
  return readRunSnapshot(folder, owner, { newer: 'read' })
}

async function openPlace(context: RunsContext): Promise<RepositoryPlace> {
  const { config } = context.config
  return openRepository(resolveStateDir(config.stateDir), config.workdir)
}

async function withLock<T>(place: RepositoryPlace, work: (lock: RepositoryLock) => Promise<T>): Promise<T> {
  const lock = await acquireLock(place.dir)
  try {
    return await work(lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

function driveContext(context: RunsContext, place: RepositoryPlace, lock: RepositoryLock): DriveContext {
  return {
    place, lock,
    config: context.config,
    version: context.version,
    observers: context.observers,
    envMode: context.envMode ?? 'inherit',
    executors: context.executors ?? [],
    hostModel: context.hostModel ?? null,
    transient: null,
  }
}

/** Only the newest run of a repository can be driven: an engine holds the lock of the repository for one run at a time. */
async function drives(place: RepositoryPlace, folder: RunFolder): Promise<boolean> {
  const [newest] = await listRuns(place)
  return newest?.id === folder.id
}

/** True when nothing is left to do for an engine: the run has its result, and its last engine left or is still at it. */
async function isOver(place: RepositoryPlace, { history }: RunSnapshot): Promise<boolean> {
  return history.engineLeft || await findLiveOwner(place.dir) !== null
}

/** The newest run when it or its last engine has no end; the caller holds the lock, so nobody drives it. */
async function unfinishedRun(place: RepositoryPlace): Promise<{ readonly folder: RunFolder, readonly hasResult: boolean } | null> {
  const [folder] = await listRuns(place)
  if (folder === undefined) return null
  const history = (await readRunSnapshot(folder, null, { missing: 'ignore' }))?.history
  if (history === undefined || (history.result !== null && history.engineLeft)) return null
  return { folder, hasResult: history.result !== null }
}

function interrupted(run: RunFolder): OpenClaudeError {
  return new OpenClaudeError('OC_RUN_STATE', `Run ${run.id} of this repository was interrupted; a new run would leave its work behind.`, {
    subject: `run ${run.id}`, fix: 'Go on with `dsh-openclaude resume`, or abort it and start anew with `dsh-openclaude run --new …`.',
  })
}

function requireTask(command: ControlCommand, snapshot: RunSnapshot): void {
  if (command.kind !== 'retry' && command.kind !== 'answer') return
  const task = snapshot.history.byId.get(command.task)
  if (task === undefined) {
    throw new OpenClaudeError('OC_USAGE', `Run ${snapshot.history.run} has no task "${command.task}".`, {
      subject: `task "${command.task}"`, fix: `Its tasks: ${snapshot.history.tasks.slice(0, 20).map(candidate => candidate.id).join(', ')}`,
    })
  }
  if (command.kind === 'answer' && task.status !== 'escalated') {
    throw new OpenClaudeError('OC_RUN_STATE', `Task "${task.id}" is ${task.status}; only an escalated task waits for an answer.`, {
      subject: `task "${task.id}"`, fix: 'dsh-openclaude status',
    })
  }
  // A halted run leaves tasks in the middle: to retry any of them is how it goes on.
  const midway = snapshot.history.result?.kind === 'halted' && task.status !== 'accepted' && task.status !== 'blocked'
  if (command.kind === 'retry' && !midway && task.status !== 'failed' && task.status !== 'escalated' && task.status !== 'cancelled') {
    throw new OpenClaudeError('OC_RUN_STATE', `Task "${task.id}" is ${task.status}; only a failed, escalated or cancelled task can be tried again.`, {
      subject: `task "${task.id}"`, fix: 'dsh-openclaude status',
    })
  }
}
