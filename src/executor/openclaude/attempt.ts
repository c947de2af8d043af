/**
 * One attempt by OpenClaude: launches one child after the other until the policy ends the attempt, each under a keeper, each journalled before it takes effect.
 * Begins with what an earlier engine left: adopts, reads the end from the files, or proves that nothing ran (SEMANTICS 7).
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AttemptOutcome, EndReason, LaunchState, OutcomeKind, SpawnFailure } from '../../core/attempt-types.ts'
import type { ResolvedConfig } from '../../core/config-types.ts'
import { assertNever, OpenClaudeError } from '../../errors.ts'
import { AttemptLog } from '../attempt-log.ts'
import { attemptOutcome } from '../attempt-outcome.ts'
import { decideNext, type NextStep } from './attempt-policy.ts'
import { MARKER_NAME } from '../process/child-env.ts'
import { type EndNote, readEndNote, writeEndNote } from './end-note.ts'
import { exitedAtOnce } from './exit-at-once.ts'
import type { EndRequests } from '../end-requests.ts'
import type { AttemptPorts, AttemptRequest } from '../executor.ts'
import { startLaunch } from '../keeper/launch.ts'
import { LaunchReader } from './launch-reader.ts'
import { planLaunch, watchdogSettings } from './launch-request.ts'
import { LaunchSupervisor } from './launch-supervisor.ts'
import type { LaunchExit, LaunchRequest, LiveLaunch, StartedLaunch, SweepResult } from '../keeper/launch-types.ts'
import { classifyLaunch } from './launch-verdict.ts'
import { pacemaker } from '../watchdog/pacemaker.ts'
import { recoverLaunch } from '../keeper/recover-launch.ts'
import { parseReport } from '../stream/report-block.ts'
import { snapshotTree } from '../tree-snapshot.ts'
import { sumLaunches } from '../stream/usage-totals.ts'

export interface OpenClaudeAttemptOptions {
  readonly config: ResolvedConfig
  /** Complete but for the marker. */
  readonly env: Readonly<Record<string, string>>
  readonly request: AttemptRequest
  readonly ports: AttemptPorts
  readonly ends: EndRequests
}

type Relaunch = Extract<NextStep, { kind: 'relaunch' }>

export class OpenClaudeAttempt {
  readonly #options: OpenClaudeAttemptOptions
  readonly #log: AttemptLog
  #spawnFailure: SpawnFailure | null = null

  constructor(options: OpenClaudeAttemptOptions) {
    this.#options = options
    this.#log = new AttemptLog(options.request, options.ports)
  }

  /** Rejects when the journal is poisoned, and with `OC_LOCK_FOREIGN` when the last launch can be neither seen nor ended from here. */
  async run(): Promise<AttemptOutcome> {
    await this.#recover()
    for (;;) {
      const step = this.#next()
      if (step.kind === 'end') return this.#outcome(step.outcome === 'no-result' && this.#neverBegan() ? 'spawn-failed' : step.outcome)
      const failure = await this.#launch(step)
      if (failure !== null) {
        this.#spawnFailure = failure
        return this.#outcome('spawn-failed')
      }
    }
  }

  #next(): NextStep {
    const { config, ends } = this.#options
    const { last, launches } = this.#log
    const verdict = last === undefined || last.end === null ? null : classifyLaunch(last.end, last)
    const step = decideNext(launches, verdict, {
      maxStalledRestarts: config.maxStalledRestarts,
      canResume: !config.noSessionPersistence,
    })
    // What was reported, or went wrong, before the request took hold stays; but nothing more is started.
    const open = step.kind === 'relaunch' || step.outcome === 'relaunch-limit' || step.outcome === 'aborted'
    return ends.outcome !== null && open ? { kind: 'end', outcome: ends.outcome } : step
  }

  /** The program ended by itself before it began: kept as a failure of the spawn. */
  #neverBegan(): boolean {
    const { config, env } = this.#options
    const { last } = this.#log
    this.#spawnFailure = last === undefined ? null : exitedAtOnce(last, config.executable, env['PATH'] ?? '')
    return this.#spawnFailure !== null
  }

  // What an earlier engine left

  async #recover(): Promise<void> {
    const { last } = this.#log
    if (last === undefined || last.status === 'swept') return
    const { config, request } = this.#options
    const { path } = this.#log.dirOf(last.launch)
    const found = await recoverLaunch({
      dir: path,
      marker: { name: MARKER_NAME, value: last.marker },
      workspaceRoot: request.workspaceRoot,
      killGraceMs: config.killGraceMs,
      keeper: last.keeper,
      child: last.child,
    })
    switch (found.kind) {
      case 'foreign':
        throw new OpenClaudeError('OC_LOCK_FOREIGN', found.message, { subject: `task "${request.task}"` })
      case 'adopted':
        await this.#log.record({ kind: 'launch-adopted', launch: last.launch, child: found.launch.child })
        await this.#supervise(last.launch, found.launch, ageOf(path))
        return
      case 'ended': {
        const reader = this.#newReader(last.launch, () => {})
        const note = readEndNote(path)
        if (note !== null) reader.holdAfter(note.stdoutBytes)
        await found.read(reader.take)
        if (reader.progress > 0 && !last.firstRecord) await this.#log.record({ kind: 'launch-first-record', launch: last.launch })
        await this.#close(last, reader, found.exit, found.exit.endedByKeeper ?? note?.reason ?? null, found.sweep)
        return
      }
      case 'never-started':
        await this.#close(last, this.#newReader(last.launch, () => {}), { exit: { known: false }, endedByKeeper: null, durationMs: 0 }, null, found.sweep)
        return
      default:
        assertNever(found)
    }
  }

  // A launch of our own

  async #launch(step: Relaunch): Promise<SpawnFailure | null> {
    const { config, env, request } = this.#options
    const launch = this.#log.nextNumber
    const sessionId = step.sessionId ?? randomUUID()
    const marker = randomUUID()
    await this.#log.record({
      kind: 'launch-intended', launch, mode: step.mode, reason: step.reason, sessionId, marker, dir: this.#log.dirOf(launch).dir,
    })
    const planned = planLaunch({ config, env, request, step, dir: this.#log.dirOf(launch).path, sessionId, marker })
    if (planned.kind === 'failed') return this.#failed(launch, planned.failure)
    const started = await this.#startKeeper(planned.request)
    if (started.kind === 'failed') return this.#failed(launch, started.failure)
    await this.#log.record({ kind: 'launch-live', launch, keeper: started.launch.keeper, child: started.launch.child })
    await this.#supervise(launch, started.launch, 0)
    return null
  }

  async #startKeeper(request: LaunchRequest): Promise<StartedLaunch> {
    try {
      mkdirSync(request.dir, { recursive: true, mode: 0o700 })
      return await startLaunch(request)
    } catch (error) {
      const message = `The launch directory ${request.dir} could not be written: ${textOf(error)}.`
      return { kind: 'failed', failure: { reason: 'no-resources', message, key: 'no-resources:launch-directory' } }
    }
  }

  async #failed(launch: number, failure: SpawnFailure): Promise<SpawnFailure> {
    await this.#log.record({ kind: 'launch-spawn-failed', launch, failure })
    return failure
  }

  // A living launch, of ours or adopted

  async #supervise(launch: number, live: LiveLaunch, ageMs: number): Promise<void> {
    const { config, request, ports, ends } = this.#options
    const { path } = this.#log.dirOf(launch)
    const drifted = new Set<string>()
    let begun = this.#log.last?.firstRecord === true
    const supervisor = new LaunchSupervisor({
      launch, live, settings: watchdogSettings(config, request.timeouts), ageMs, dryRun: config.watchdog === 'dry-run', pacemaker,
      noteEnd: note => this.#noteEnd(launch, note),
      snapshot: () => snapshotTree(ports).then(() => {}),
      activity: ports.activity,
      warn: (code, message) => this.#log.note({ kind: 'warning', launch, code, message }),
    }, onRecord => this.#newReader(launch, record => {
      onRecord(record)
      if (!begun && record.kind !== 'heartbeat') {
        begun = true
        this.#log.note({ kind: 'launch-first-record', launch })
      }
      if (record.kind !== 'other' || drifted.has(record.type)) return
      drifted.add(record.type)
      this.#log.note({ kind: 'warning', launch, code: 'drift', message: `OpenClaude wrote a record of the unknown type "${record.type}"; it counts as progress.` })
    }))
    // An earlier engine had begun to end it: that goes on, for the same reason.
    const note = readEndNote(path)
    if (note !== null) supervisor.goOnEnding(note)
    const forget = ends.onEnd(urgency => supervisor.end({ kind: ends.outcome === 'aborted' ? 'abort' : 'stop' }, urgency))
    const { exit, endedBy } = await supervisor.run()
    forget()
    const { last } = this.#log
    if (last !== undefined) await this.#close(last, supervisor.reader, exit, endedBy, live.sweep)
  }

  /** After the last byte: sweep, then the facts and the tree of the end. */
  async #close(last: LaunchState, reader: LaunchReader, exit: LaunchExit, endedBy: EndReason | null, sweep: () => Promise<SweepResult>): Promise<void> {
    const swept = await sweep()
    const end = last.end ?? reader.finish(exit, endedBy)
    if (last.end === null) {
      this.#warnAboutModel(last.launch, end.model)
      await this.#log.record({ kind: 'launch-ended', launch: last.launch, end, tree: await snapshotTree(this.#options.ports) })
    }
    await this.#log.record({ kind: 'launch-swept', launch: last.launch, ...swept })
  }

  #newReader(launch: number, onRecord: ConstructorParameters<typeof LaunchReader>[0]['onRecord']): LaunchReader {
    const { config, ports } = this.#options
    const current = this.#log.launches.launches.find(candidate => candidate.launch === launch)
    const sameSession = this.#log.launches.launches.filter(other => other.launch < launch && other.sessionId === current?.sessionId)
    return new LaunchReader({
      maxLineBytes: config.maxLineBytes,
      earlier: sumLaunches(sameSession.flatMap(other => other.end === null ? [] : [other.end])),
      redact: ports.redact,
      onRecord,
    })
  }

  #noteEnd(launch: number, note: EndNote): void {
    try {
      writeEndNote(this.#log.dirOf(launch).path, note)
    } catch (error) {
      // A full disk or a directory that is gone must not keep the child from being ended.
      this.#log.note({ kind: 'warning', launch, code: 'end-note', message: `The reason of the end could not be noted: ${textOf(error)}.` })
    }
  }

  /** OpenClaude's own settings may win over the model that was asked for; what really ran is named. */
  #warnAboutModel(launch: number, seen: string | null): void {
    const { config, request } = this.#options
    const asked = request.model ?? config.model
    if (asked === '' || seen === null || seen === asked) return
    this.#log.note({ kind: 'warning', launch, code: 'model-differs', message: `The model "${asked}" was asked for, but "${seen}" ran.` })
  }

  async #outcome(kind: OutcomeKind): Promise<AttemptOutcome> {
    await this.#log.settled()
    const { launches } = this.#log.launches
    const text = launches.at(-1)?.end?.result?.text
    return attemptOutcome({
      kind,
      launches,
      spawnFailure: this.#spawnFailure,
      report: text === undefined ? { kind: 'absent' } : parseReport(text),
      subject: 'OpenClaude',
      resumeCommand: sessionId => `${this.#options.config.executable.join(' ')} --resume ${sessionId}`,
    })
  }
}

/** Age of a launch of another engine: its files are the only clock that both share. */
function ageOf(dir: string): number {
  const begun = statSync(join(dir, 'spec.json'), { throwIfNoEntry: false })?.mtimeMs
  return begun === undefined ? 0 : Math.max(0, Date.now() - begun)
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
