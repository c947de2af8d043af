/**
 * Opens the files of a run for driving and closes them in order. Everything that can be refused is refused before the first file is made:
 * executors are checked, checks are resolved, then the run folder is created (or the journal folded) and the engine is put on top.
 */
import type { ConfigWithOrigins } from '../../core/config-types.ts'
import type { Entry } from '../../core/entry-types.ts'
import type { Graph } from '../../core/graph-types.ts'
import { applyEntry } from '../../core/apply-entry.ts'
import { runPolicy } from '../../core/run-policy.ts'
import { newRunState } from '../../core/run-state.ts'
import type { ControlCommand, RunEvent, RunState } from '../../core/run-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import type { EnvMode } from '../../executor/process/child-env.ts'
import type { Executor } from '../../executor/executor.ts'
import { pacemaker } from '../../executor/watchdog/pacemaker.ts'
import type { AdvisorModel } from '../../supervision/ports.ts'
import { applyToHistory, newHistory, type RunHistory } from '../../report/history.ts'
import type { ActiveRun } from './active-run.ts'
import { assemble, type Assembly } from './assemble.ts'
import { Engine, type EngineObserver } from '../drive/engine.ts'
import { finishRun } from './finish-run.ts'
import { createJournal, createMemoryJournal, openJournal, type JournalOptions } from '../journal/journal.ts'
import type { Journal } from '../journal/writer.ts'
import type { RepositoryLock } from '../state/lock.ts'
import { preflight } from './preflight-run.ts'
import { createRedactor, type Redactor } from '../secrets/redact.ts'
import { createRun, listRuns, type RunFolder } from '../state/run-folder.ts'
import { KEEP_RAW_BYTES, KEEP_RAW_MS, pruneLaunches } from './prune-launches.ts'
import { hashGraph, readRunFile, resumeConfig, writeRunFile, type RunFile } from '../state/run-file.ts'
import type { RepositoryPlace } from '../state/state-dir.ts'
import { watchRunControl } from './watch-run.ts'

export interface DriveContext {
  readonly place: RepositoryPlace
  readonly lock: RepositoryLock
  readonly config: ConfigWithOrigins
  readonly version: string
  readonly observers: readonly EngineObserver[]
  readonly envMode: EnvMode
  readonly executors: readonly Executor[]
  readonly hostModel: AdvisorModel | null
  /** Folder of a run without persistence: it holds everything and is removed with the run. Null = the run is kept. */
  readonly transient: string | null
}

export interface PersonCommand {
  readonly by: string
  readonly command: ControlCommand
}

export async function createNewRun(context: DriveContext, graph: Graph, graphPath: string | null): Promise<ActiveRun> {
  const { config, place, version } = context
  const redactor = redactorOf(config)
  const assembly = await assemble(assembleOptions(context, config, redactor, null))
  requireExecutors(graph, assembly)
  const notes = await preflight(graph, assembly, place.workdir)
  const folder = await createRun(place)
  await pruneLaunches(await listRuns(place), { now: Date.now(), maxAgeMs: KEEP_RAW_MS, maxBytes: KEEP_RAW_BYTES })
  const graphSha256 = hashGraph(graph)
  const file: RunFile = {
    v: 1, run: folder.id, createdAt: new Date().toISOString(), version, workdir: place.workdir, graphPath, graphSha256, graph,
    config: redactor.redactDeep(config.config), origins: config.origins, warnings: config.warnings, checks: assembly.checks,
  }
  await writeRunFile(folder.dir, file)
  const poison = poisonHandler()
  const journal = context.transient === null
    ? await createJournal(folder.journalPath, journalOptions(context, redactor, poison))
    : createMemoryJournal(journalOptions(context, redactor, poison)).journal
  const state = newRunState(graph, folder.id, runPolicy(config.config, assembly.registry.agents()))
  return activate(context, {
    folder, file, state, journal, assembly, poison,
    history: newHistory(folder.id, graph),
    warnings: [...config.warnings, ...assembly.checks.warnings, ...notes],
    created: true,
    repairs: [],
    control: null,
    seen: new Set(),
  })
}

export async function openExistingRun(context: DriveContext, folder: RunFolder, control: PersonCommand | null): Promise<ActiveRun> {
  const file = await readRunFile(folder.dir)
  const config = resumeConfig(file, context.config)
  const redactor = redactorOf(config)
  const assembly = await assemble(assembleOptions(context, config, redactor, file))
  const state = newRunState(file.graph, folder.id, runPolicy(config.config, assembly.registry.agents()))
  const history = newHistory(folder.id, file.graph)
  const seen = new Set<string>()
  let pinsAdvanced = false
  const poison = poisonHandler()
  // Before the journal is opened: what its repair has to say is written by the engine, and there may be none.
  const notes = control?.command.kind === 'abort' ? [] : await preflight(file.graph, assembly, file.workdir)
  const opened = await openJournal(folder.journalPath, ({ header, entry }) => {
    applyEntry(state, entry)
    applyToHistory(history, { at: header.at, entry })
    if (entry.kind === 'control-received') seen.add(entry.id)
    if (entry.kind === 'pin-advanced') pinsAdvanced = true
  }, journalOptions(context, redactor, poison))
  try {
    // The pins of the run file are those of its start; scripts that landed since are read from the tree again.
    if (pinsAdvanced) await assembly.parts.repin()
    return activate(context, {
      folder, file, state, history, journal: opened.journal, assembly, poison, control, seen,
      warnings: [...config.warnings, ...notes, ...opened.warnings.map(warning => warning.message)],
      // Nothing is there when the engine before died at the very first write.
      created: opened.replayed === 0,
      repairs: opened.warnings.map(({ code, message }) => ({ type: 'warning', code, message })),
    })
  } catch (error) {
    await opened.journal.close()
    throw error
  }
}

interface Opened {
  readonly folder: RunFolder
  readonly file: RunFile
  readonly state: RunState
  readonly history: RunHistory
  readonly journal: Journal
  readonly assembly: Assembly
  readonly poison: PoisonHandler
  readonly warnings: readonly string[]
  /** The journal is empty: the run is told before its engine. */
  readonly created: boolean
  /** What the repair of the journal has to say. */
  readonly repairs: readonly RunEvent[]
  /** A person's command that this engine was opened for; carried out right after the announcement. */
  readonly control: PersonCommand | null
  /** Ids of spool commands that the journal holds already. */
  readonly seen: ReadonlySet<string>
}

function activate(context: DriveContext, opened: Opened): ActiveRun {
  const { folder, file, history, state, journal, assembly } = opened
  const keepHistory: EngineObserver = { entries: entries => remember(history, entries) }
  const engine = new Engine({
    run: folder.id,
    runDir: folder.dir,
    version: context.version,
    state,
    parts: assembly.parts,
    append: entries => journal.append(entries),
    observers: [keepHistory, ...context.observers],
    suspensions: pacemaker,
  })
  opened.poison.target = error => engine.fail(error)
  const control = watchRunControl({ place: context.place, run: folder.id, engine, seen: opened.seen, flush: () => journal.flush() })
  const finished = finishRun({
    engine, journal, control, history, file, folder, lock: context.lock, executors: assembly.registry, transient: context.transient,
  })
  finished.catch(() => undefined)
  return {
    run: folder.id,
    runDir: folder.dir,
    workdir: file.workdir,
    warnings: opened.warnings,
    history,
    engine,
    finished,
    start: () => {
      engine.start({
        before: opened.created ? [{ type: 'created', graphSha256: file.graphSha256 }] : [],
        after: [...opened.repairs, ...opened.control === null ? [] : [controlEvent(opened.control)]],
      })
      control.start()
    },
  }
}

function controlEvent({ by, command }: PersonCommand): RunEvent {
  return { type: 'control', id: `direct-${Date.now().toString(36)}`, by, command }
}

function remember(history: RunHistory, entries: readonly Entry[]): void {
  const at = new Date().toISOString()
  for (const entry of entries) applyToHistory(history, { at, entry })
}

/** The journal exists before the engine that must hear of its failure. */
interface PoisonHandler {
  target: (error: OpenClaudeError) => void
}

function poisonHandler(): PoisonHandler {
  return { target: () => undefined }
}

function journalOptions(context: DriveContext, redactor: Redactor, poison: PoisonHandler): JournalOptions {
  return { redactor, engine: context.lock.owner.epoch, onPoisoned: error => poison.target(error) }
}

function redactorOf(config: ConfigWithOrigins): Redactor {
  return createRedactor({ env: process.env, configEnv: config.config.env })
}

function assembleOptions(context: DriveContext, config: ConfigWithOrigins, redactor: Redactor, file: RunFile | null): Parameters<typeof assemble>[0] {
  return {
    config: config.config,
    workdir: file?.workdir ?? context.place.workdir,
    // In place, a key can't speak of ignored files, installed packages, values and services: nothing proves twice.
    evidenceDir: null,
    redactor,
    envMode: context.envMode,
    executors: context.executors,
    hostModel: context.hostModel,
    pinned: file === null ? null : file.checks,
  }
}

function requireExecutors(graph: Graph, assembly: Assembly): void {
  const names = new Set(assembly.registry.names())
  const faults = graph.tasks.flatMap((task, index) => names.has(task.assignee)
    ? []
    : [{ path: `$.tasks[${index}].assignee`, message: `task "${task.id}" is assigned to "${task.assignee}", which is no registered executor; known: ${[...names].join(', ')}` }])
  if (faults.length > 0) throw new OpenClaudeError('OC_GRAPH_INVALID', 'The graph names executors that do not exist.', { faults, fix: 'Register the executor, or change the assignee.' })
}
