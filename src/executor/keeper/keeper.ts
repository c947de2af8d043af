/**
 * The keeper: a detached program, one per launch, that alone is the parent of the child (SEMANTICS 7). `node keeper.js <launch directory>`.
 * The first line on stdin is the launch request; the pipe then stays open as a life-line to the engine. The keeper outlives the engine, pumps the
 * child's output into capped files, bounds its run time, records its end, and exits. It never starts a child in a directory that was claimed.
 */
import type { ChildProcess } from 'node:child_process'
import { appendFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import spawn from 'cross-spawn'
import type { EndReason, ExitFact, ProcessIdentity, SpawnFailure } from '../../core/attempt-types.ts'
import { pumpToFile, waitForSpace } from './capped-file.ts'
import { identify } from '../process/identity.ts'
import { withInheritedTag } from '../process/inherited-tag.ts'
import { climbKillLadder } from '../process/kill-ladder.ts'
import type { LaunchFile } from './launch-files.ts'
import { claimLaunch, LAUNCH_FILES, writeWhole } from './launch-files.ts'
import type { EndUrgency, LaunchRequest } from './launch-types.ts'
import { LaunchTree } from '../process/process-tree.ts'
import { checkCwd, classifySpawnError } from './spawn-failure.ts'

const DRAIN_MS = 2000
const STDERR_HEAD_BYTES = 4 * 1024 * 1024
const STDERR_TAIL_BYTES = 64 * 1024
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** A child that has not ended this long after SIGKILL is in an uninterruptible call: it is left, its exit unknown. */
const LOST_MS = 15_000

const dir = process.argv[2] ?? ''
const file = (name: keyof typeof LAUNCH_FILES): string => join(dir, LAUNCH_FILES[name])

// Before there is a child, each of these only means that none shall be started.
let endTree: (reason: EndReason, urgency: EndUrgency) => void = () => process.exit(0)
let onEngineGone = (): void => process.exit(0)

for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => undefined)
process.on('SIGTERM', () => endTree({ kind: 'stop' }, 'ladder'))
process.on('uncaughtException', (error) => {
  endTree({ kind: 'stop' }, 'now')
  setTimeout(() => process.exit(70), LOST_MS)
  note(error)
})
process.stdin.on('end', () => onEngineGone())
process.stdin.on('error', () => onEngineGone())
readFirstLine((line) => { keep(JSON.parse(line) as LaunchRequest) })

function readFirstLine(use: (line: string) => void): void {
  let parts: string[] | null = []
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (text: string) => {
    if (parts === null) return
    const end = text.indexOf('\n')
    parts.push(end === -1 ? text : text.slice(0, end))
    if (end === -1) return
    const line = parts.join('')
    parts = null
    use(line)
  })
}

function keep(request: LaunchRequest): void {
  const startedAt = performance.now()
  const keeper = identify(process.pid)
  if (keeper === null) throw new Error('the keeper does not find itself in the process table')
  writeWhole(file('launch'), { v: 1, keeper, child: null, tag: null }, 'fast')
  // Only now, so that whoever finds the claim finds the claimant's identity.
  if (claimLaunch(dir, 'keeper') !== 'keeper') process.exit(0)

  const [program = '', ...args] = request.argv
  const { cwd, env } = request
  const cwdFailure = checkCwd(cwd)
  if (cwdFailure !== null) return fail(cwdFailure)
  const started = spawnTagged()
  if (started === null) return
  const { value: child, tag } = started
  child.once('error', (error) => { if (child.pid === undefined) fail(classifySpawnError(error, request)) })
  if (child.pid === undefined) return
  // Read before the event loop turns: until then even a child that has already ended still has its row.
  const identity = identify(child.pid, 'zombies')
  if (identity === null) {
    child.kill('SIGKILL')
    throw new Error(`child ${child.pid} is not in the process table`)
  }
  void watch(request, child, { v: 1, keeper, child: identity, tag }, startedAt)

  function spawnTagged(): ReturnType<typeof withInheritedTag<ChildProcess>> | null {
    try {
      return withInheritedTag(request.marker.value, () => spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }))
    } catch (error) {
      // Node throws for arguments that can't be passed at all; no child exists then (F24).
      fail(classifySpawnError(error, request))
      return null
    }
  }
}

async function watch(request: LaunchRequest, child: ChildProcess, launch: LaunchFile & { readonly child: ProcessIdentity }, startedAt: number): Promise<void> {
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error('the child has no pipes')
  const { promise: exited, resolve: settle } = Promise.withResolvers<ExitFact>()
  let over = false
  child.once('exit', (code, signal) => {
    over = true
    settle({ known: true, code, signal })
  })
  let endedByKeeper: EndReason | null = null
  const hurry = new AbortController()
  endTree = (reason, urgency) => {
    if (urgency === 'now') hurry.abort()
    // The first reason wins, and after the exit only what its output shows still counts.
    if (endedByKeeper !== null || (over && reason.kind !== 'flooded')) return
    endedByKeeper = reason
    void climbKillLadder(new LaunchTree(launch.child), request.killGraceMs, hurry.signal).then(() => setTimeout(() => settle({ known: false }), LOST_MS))
  }
  onEngineGone = () => { if (request.onEngineDeath === 'end') endTree({ kind: 'stop' }, 'ladder') }
  if (process.stdin.readableEnded) onEngineGone()
  // EPIPE: the child ended without reading its prompt; its exit tells the story (F21).
  stdin.on('error', () => undefined)
  await waitForSpace(() => writeWhole(file('launch'), launch, 'fast'))
  tell('started')
  if (request.maxRuntimeMs > 0) {
    // The engine's watchdog acts first; the slack lets it finish its own ladder.
    setTimeout(() => endTree({ kind: 'keeper-bound' }, 'ladder'), Math.min(request.maxRuntimeMs + 2 * request.killGraceMs, LONGEST_TIMER_MS))
  }
  stdin.end(request.prompt)
  const flooded = (): void => endTree({ kind: 'flooded' }, 'ladder')
  const stderrBytes = Math.min(STDERR_HEAD_BYTES, request.maxStreamBytes)
  const pumped = Promise.all([
    pumpToFile(stdout, { path: file('stdout'), maxBytes: request.maxStreamBytes, tailBytes: 0, onOverflow: flooded }),
    pumpToFile(stderr, { path: file('stderr'), maxBytes: stderrBytes, tailBytes: STDERR_TAIL_BYTES, onOverflow: () => undefined }),
  ]).catch((error: unknown) => {
    // The evidence can't be kept, so the work can't be judged.
    endTree({ kind: 'stop' }, 'now')
    note(error)
  })
  const exit = await exited
  const durationMs = Math.round(performance.now() - startedAt)
  // `close` may never come: a process left behind can hold the pipe for its whole life (F16).
  setTimeout(() => { stdout.destroy(); stderr.destroy() }, DRAIN_MS)
  await pumped
  await waitForSpace(() => writeWhole(file('exit'), { v: 1, kind: 'exit', exit, endedByKeeper, durationMs }, 'durable'))
  process.exit(0)
}

function fail(failure: SpawnFailure): void {
  writeWhole(file('exit'), { v: 1, kind: 'spawn-failed', failure }, 'durable')
  tell('failed')
  process.exit(0)
}

/** Nobody reads our stderr: what went wrong in here goes beside the other files of the launch. */
function note(error: unknown): void {
  const text = error instanceof Error ? error.stack ?? error.message : String(error)
  appendFileSync(file('keeperLog'), `${text}\n`, { mode: 0o600 })
}

/** One word to the engine that started us; it may be gone. */
function tell(word: string): void {
  try {
    writeSync(1, `${word}\n`)
  } catch {
    // EPIPE: the engine is gone and the next one reads the files.
  }
}
