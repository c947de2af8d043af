/**
 * Runs a plain child: a check, a git command, a `command` task. Pipes with byte caps, an own process tree, no keeper.
 * After an engine crash it is simply run again. Settles on exit plus at most 2 s for the pipes, never on `close` (F16).
 * Does not judge what the exit means.
 */
import type { ChildProcess } from 'node:child_process'
import spawn from 'cross-spawn'
import type { SpawnFailure } from '../../core/attempt-types.ts'
import type { EndUrgency, SweepResult } from '../keeper/launch-types.ts'
import { PlainOutput } from './output.ts'
import { PlainTree } from './tree.ts'
import type { Marker } from '../process/process-tree.ts'
import { checkCwd, classifySpawnError } from '../keeper/spawn-failure.ts'

type PlainCommand =
  | { readonly argv: readonly string[] }
  /** Run by `sh -c`. */
  | { readonly commandLine: string }

export interface PlainRequest {
  readonly command: PlainCommand
  readonly cwd: string
  /** The complete environment but for the marker, which is added. */
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds; 0 = no limit. */
  readonly timeoutMs: number
  /** Absolute; null = no log. Written with mode 0600. */
  readonly logFile: string | null
  /** Bytes of output the log keeps, half from the start and half from the end. */
  readonly maxBytes: number
  readonly tailBytes: number
  readonly marker: Marker
  /** The sweep covers orphans whose cwd is inside it. */
  readonly workspaceRoot: string
  /** Between SIGTERM and SIGKILL. Default 6000. */
  readonly killGraceMs?: number
  /** Applied to the log and to the tail. Default: unchanged. */
  readonly redact?: (text: string) => string
  /** Written to stdin, which is then closed. Default: nothing. */
  readonly input?: string
  /** Aborting ends the tree by the ladder. */
  readonly signal?: AbortSignal
}

export interface PlainResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly spawnError: SpawnFailure | null
  readonly durationMs: number
  /** The end of stdout and stderr, in order of arrival. */
  readonly tail: string
  /** Bytes printed, kept or not. */
  readonly bytes: number
  /** Why the log is missing or incomplete; null = it is whole. */
  readonly logError: string | null
  readonly swept: SweepResult
}

export interface PlainRun {
  readonly pid: number | null
  /** Never rejects. Settles when the tree is gone. */
  readonly result: Promise<PlainResult>
  /** Idempotent; `now` shortens a running ladder. The result then says `aborted`. */
  readonly end: (urgency: EndUrgency) => void
}

const DRAIN_MS = 2000
const MAX_DELAY_MS = 2_147_483_647

/** Runs to the end. Never rejects: a child that can't be started is `spawnError`. */
export async function runPlain(request: PlainRequest): Promise<PlainResult> {
  const { signal } = request
  if (signal?.aborted === true) return { ...NOTHING, aborted: true }
  const run = startPlain(request)
  const onAbort = (): void => run.end('ladder')
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await run.result
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

const NOTHING: PlainResult = {
  exitCode: null, signal: null, timedOut: false, aborted: false, spawnError: null, durationMs: 0, tail: '', bytes: 0, logError: null,
  swept: { result: 'clean', ended: 0 },
}

export function startPlain(request: PlainRequest): PlainRun {
  const failed = (spawnError: SpawnFailure): PlainRun => ({ pid: null, result: Promise.resolve({ ...NOTHING, spawnError }), end: () => {} })
  const argv = 'argv' in request.command ? request.command.argv : ['sh', '-c', request.command.commandLine]
  const [program = '', ...args] = argv
  const subject = { argv, cwd: request.cwd, env: request.env }
  const badCwd = checkCwd(request.cwd)
  if (badCwd !== null) return failed(badCwd)
  let child: ChildProcess
  try {
    child = spawn(program, args, {
      cwd: request.cwd,
      env: { ...request.env, [request.marker.name]: request.marker.value },
      // Nothing to say: no pipe, since a shell may take an open one for a remote session and read its start-up files.
      stdio: [request.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
  } catch (error) {
    return failed(classifySpawnError(error, subject))
  }
  if (child.pid === undefined) {
    return { pid: null, end: () => {}, result: firstError(child).then(error => ({ ...NOTHING, spawnError: classifySpawnError(error, subject) })) }
  }
  return new RunningChild(child, child.pid, request).run()
}

function firstError(child: ChildProcess): Promise<unknown> {
  return new Promise(resolve => child.once('error', resolve))
}

class RunningChild {
  readonly #child: ChildProcess
  readonly #pid: number
  readonly #tree: PlainTree
  readonly #request: PlainRequest
  readonly #output: PlainOutput
  readonly #startedAt = performance.now()
  readonly #timers = new Set<NodeJS.Timeout>()
  #timedOut = false
  #aborted = false
  #ending: EndUrgency | null = null

  constructor(child: ChildProcess, pid: number, request: PlainRequest) {
    this.#child = child
    this.#pid = pid
    this.#tree = new PlainTree(pid, request.marker, request.workspaceRoot)
    this.#request = request
    const { logFile, maxBytes, tailBytes, redact = text => text } = request
    this.#output = new PlainOutput({ logFile, maxBytes, tailBytes, redact })
  }

  run(): PlainRun {
    const drained = Promise.all([this.#child.stdout, this.#child.stderr].map(stream => new Promise<void>(resolve => {
      stream?.on('data', (chunk: Uint8Array) => this.#output.add(chunk))
      stream?.once('close', resolve)
      stream?.on('error', () => resolve())
    })))
    // A child that exits before it read everything breaks the pipe (F21); its exit code tells the story.
    this.#child.stdin?.on('error', () => {})
    this.#child.stdin?.end(this.#request.input)
    if (this.#request.timeoutMs > 0) {
      this.#after(this.#request.timeoutMs, () => {
        this.#timedOut = true
        this.#end('ladder')
      })
    }
    return { pid: this.#pid, result: this.#settle(drained), end: urgency => this.#abort(urgency) }
  }

  async #settle(drained: Promise<unknown>): Promise<PlainResult> {
    const exit = await new Promise<{ code: number | null, signal: string | null }>(resolve => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    const durationMs = Math.round(performance.now() - this.#startedAt)
    for (const timer of this.#timers) clearTimeout(timer)
    const swept = await this.#tree.sweep()
    await Promise.race([drained, new Promise(resolve => this.#after(DRAIN_MS, () => resolve(null)))])
    for (const timer of this.#timers) clearTimeout(timer)
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    return {
      exitCode: exit.code,
      signal: exit.signal,
      timedOut: this.#timedOut,
      aborted: this.#aborted,
      spawnError: null,
      durationMs,
      ...this.#output.finish(),
      swept,
    }
  }

  #abort(urgency: EndUrgency): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    if (!this.#timedOut) this.#aborted = true
    this.#end(urgency)
  }

  #end(urgency: EndUrgency): void {
    if (this.#ending === 'now' || this.#ending === urgency) return
    this.#ending = urgency
    const graceMs = this.#request.killGraceMs ?? 6000
    if (urgency === 'now' || graceMs === 0) {
      this.#tree.signal('SIGKILL')
      return
    }
    this.#tree.signal('SIGTERM')
    // A stopped process takes SIGTERM only when it goes on (F13).
    this.#tree.signal('SIGCONT')
    this.#after(graceMs, () => this.#end('now'))
  }

  #after(delayMs: number, action: () => void): void {
    this.#timers.add(setTimeout(action, Math.min(delayMs, MAX_DELAY_MS)))
  }
}
