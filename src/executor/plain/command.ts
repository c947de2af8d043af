/**
 * The executor `command`: one command line as a plain child, so that a graph can mix agents and scripts.
 * The time limit is `maxRuntimeMs`; the exit code alone says success. After an engine crash what is left of it is ended and it simply runs again.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { AttemptOutcome, ExitFact, LaunchEnd, LaunchReason, OutcomeKind } from '../../core/attempt-types.ts'
import type { ResolvedConfig } from '../../core/config-types.ts'
import { AttemptLog } from '../attempt-log.ts'
import { attemptOutcome, NO_USAGE, STDERR_TAIL_CHARS } from '../attempt-outcome.ts'
import { type EnvMode, MARKER_NAME, plainEnv } from '../process/child-env.ts'
import { newEndRequests, type EndRequests } from '../end-requests.ts'
import type { AttemptHandle, AttemptPorts, AttemptRequest, Executor } from '../executor.ts'
import { findExecutable } from '../process/find-executable.ts'
import { startPlain, type PlainResult } from './child.ts'
import { sweepPlain } from './tree.ts'
import { snapshotTree } from '../tree-snapshot.ts'

export interface CommandDeps {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly envMode: EnvMode
}

const ENGINE_RELAUNCHES = 3

export function createCommandExecutor(config: ResolvedConfig, deps: CommandDeps): Executor {
  const env = plainEnv({ mode: deps.envMode, caller: deps.environment, config })
  return {
    name: 'command',
    agent: false,
    preflight: ({ cwd }) => Promise.resolve({ executable: findExecutable(['sh'], { env, cwd }).argv[0], version: '', notes: [] }),
    start: (request, ports) => {
      const ends = newEndRequests()
      return { outcome: new CommandAttempt(request, ports, config, env, ends).run(), end: ends.add } satisfies AttemptHandle
    },
  }
}

class CommandAttempt {
  readonly #request: AttemptRequest
  readonly #ports: AttemptPorts
  readonly #config: ResolvedConfig
  readonly #env: Readonly<Record<string, string>>
  readonly #ends: EndRequests
  readonly #log: AttemptLog

  constructor(request: AttemptRequest, ports: AttemptPorts, config: ResolvedConfig, env: Readonly<Record<string, string>>, ends: EndRequests) {
    this.#request = request
    this.#ports = ports
    this.#config = config
    this.#env = env
    this.#ends = ends
    this.#log = new AttemptLog(request, ports)
  }

  async run(): Promise<AttemptOutcome> {
    const reason = await this.#cleanUp()
    if (reason === null) return this.#outcome('relaunch-limit', null)
    let result = await this.#launch(reason)
    if (this.#wasKilled(result) && this.#log.launches.externalKills === 0) result = await this.#launch('killed-externally')
    return this.#outcome(this.#kindOf(result), result)
  }

  /** Ends what an earlier engine left running. Returns why the command runs now; null = it was lost too often. */
  async #cleanUp(): Promise<LaunchReason | null> {
    const { last } = this.#log
    if (last === undefined) return 'first'
    if (last.end === null && last.status !== 'swept') {
      const result = await sweepPlain({ name: MARKER_NAME, value: last.marker }, this.#request.workspaceRoot)
      await this.#log.record({ kind: 'launch-ended', launch: last.launch, end: endOf({ known: false }, null, null), tree: await snapshotTree(this.#ports) })
      await this.#log.record({ kind: 'launch-swept', launch: last.launch, ...result })
    }
    return this.#log.launches.engineRelaunches >= ENGINE_RELAUNCHES ? null : 'engine-restart'
  }

  /** Null: the owner asked to end before anything was started. */
  async #launch(reason: LaunchReason): Promise<PlainResult | null> {
    if (this.#ends.outcome !== null) return null
    const launch = this.#log.nextNumber
    const marker = randomUUID()
    await this.#log.record({ kind: 'launch-intended', launch, mode: 'fresh', reason, sessionId: '', marker, dir: this.#log.dirOf(launch).dir })
    const dir = this.#log.makeDir(launch)
    const run = startPlain({
      command: { commandLine: this.#request.command ?? '' },
      cwd: this.#request.cwd,
      env: this.#env,
      timeoutMs: this.#request.timeouts.maxRuntimeMs ?? this.#config.maxRuntimeMs,
      logFile: join(dir, 'output.log'),
      maxBytes: this.#config.maxStreamBytes,
      tailBytes: STDERR_TAIL_CHARS,
      marker: { name: MARKER_NAME, value: marker },
      workspaceRoot: this.#request.workspaceRoot,
      killGraceMs: this.#config.killGraceMs,
      redact: this.#ports.redact,
    })
    const forget = this.#ends.onEnd(run.end)
    await this.#log.record({ kind: 'launch-live', launch, keeper: null, child: null })
    this.#ports.activity({ launch, phase: 'running', lastTool: null, progressAt: performance.now(), costUsd: 0 })
    const result = await run.result
    forget()
    if (result.spawnError !== null) {
      await this.#log.record({ kind: 'launch-spawn-failed', launch, failure: result.spawnError })
      return result
    }
    await this.#log.record({ kind: 'launch-first-record', launch })
    const exit: ExitFact = { known: true, code: result.exitCode, signal: result.signal }
    await this.#log.record({ kind: 'launch-ended', launch, end: endOf(exit, result, this.#ends.outcome), tree: await snapshotTree(this.#ports) })
    await this.#log.record({ kind: 'launch-swept', launch, ...result.swept })
    return result
  }

  #wasKilled(result: PlainResult | null): boolean {
    return result !== null && result.signal === 'SIGKILL' && !result.timedOut && !result.aborted
  }

  #kindOf(result: PlainResult | null): OutcomeKind {
    if (this.#ends.outcome !== null && (result === null || result.aborted)) return this.#ends.outcome
    if (result === null) return 'stopped'
    if (result.spawnError !== null) return 'spawn-failed'
    if (result.swept.result === 'tainted') return 'tainted'
    if (result.timedOut) return 'overrun'
    if (this.#wasKilled(result)) return 'killed-externally'
    return result.exitCode === 0 ? 'succeeded' : 'agent-error'
  }

  #outcome(kind: OutcomeKind, result: PlainResult | null): AttemptOutcome {
    return attemptOutcome({
      kind,
      launches: this.#log.launches.launches,
      spawnFailure: result?.spawnError ?? null,
      subject: 'The command',
      report: { kind: 'absent' },
      resumeCommand: null,
    })
  }
}

function endOf(exit: ExitFact, result: PlainResult | null, asked: 'stopped' | 'aborted' | null): LaunchEnd {
  const endedBy: LaunchEnd['endedBy'] = result?.timedOut === true
    ? { kind: 'clock', clock: 'max-runtime' }
    : result?.aborted === true ? { kind: asked === 'aborted' ? 'abort' : 'stop' } : null
  return {
    exit, endedBy, result: null, resultOversize: false, openTools: [], backgroundTasks: 0, records: 0, lastTool: null, lastPhase: null,
    usage: NO_USAGE,
    costUsd: 0, model: null, stderrTail: result?.tail ?? '', durationMs: result?.durationMs ?? 0,
  } satisfies LaunchEnd
}

