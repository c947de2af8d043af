/**
 * The keeper: a detached program, one per launch, that alone is the parent of the child (SEMANTICS 7). `node keeper.js <launch directory>`.
 * The first line on stdin is the launch request; the pipe then stays open as a life-line to the engine. The keeper outlives the engine, pumps the
 * child's output into capped files, bounds its run time, records its end, and exits. It never starts a child in a directory that was claimed.
 */
import { appendFileSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import spawn from 'cross-spawn'
import type { EndReason, ExitFact, ProcessIdentity, SpawnFailure } from '../core/attempt-types.ts'
import { pumpToFile, waitForSpace } from './capped-file.ts'
import { identify } from './identity.ts'
import { climbKillLadder } from './kill-ladder.ts'
import { claimLaunch, LAUNCH_FILES, writeWhole } from './launch-files.ts'
import type { LaunchRequest } from './launch-types.ts'
import { LaunchTree } from './process-tree.ts'
import { checkCwd, classifySpawnError } from './spawn-failure.ts'

const DRAIN_MS = 2000
const STDERR_HEAD_BYTES = 4 * 1024 * 1024
const STDERR_TAIL_BYTES = 64 * 1024
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** The child counts as lost when it has not ended this long after SIGKILL: an uninterruptible call. */
const LOST_MS = 15_000

const dir = process.argv[2] ?? ''
let endTree: (reason: EndReason, urgency: 'ladder' | 'now') => void = () => process.exit(0)

for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => undefined)
process.on('SIGTERM', () => endTree({ kind: 'stop' }, 'ladder'))
process.on('uncaughtException', (error) => {
  note(error)
  endTree({ kind: 'stop' }, 'now')
  setTimeout(() => process.exit(70), LOST_MS)
})

let onRequest: (line: string) => void = (line) => { keep(JSON.parse(line) as LaunchRequest) }
let head = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text: string) => {
  head += text
  const end = head.indexOf('\n')
  if (end === -1) return
  const line = head.slice(0, end)
  head = ''
  const handle = onRequest
  onRequest = () => undefined
  handle(line)
})
let onEngineGone = (): void => process.exit(0)
process.stdin.on('end', () => onEngineGone())
process.stdin.on('error', () => onEngineGone())

function keep(request: LaunchRequest): void {
  const startedAt = performance.now()
  const keeper = identify(process.pid)
  if (keeper === null) throw new Error('the keeper does not find itself in the process table')
  const record = (child: ProcessIdentity | null, tag: number | null): void => {
    writeWhole(join(dir, LAUNCH_FILES.launch), { v: 1, keeper, child, tag }, 'fast')
  }
  record(null, null)
  if (claimLaunch(dir, 'keeper') !== 'keeper') process.exit(0)

  const missing = checkCwd(request.cwd)
  if (missing !== null) return fail(missing)
  const tag = raiseTag(request.marker.value)
  let child: ChildProcess
  try {
    const [program = '', ...args] = request.argv
    child = spawn(program, args, { cwd: request.cwd, env: request.env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (error) {
    return fail(classifySpawnError(error, request))
  } finally {
    lowerTag(tag)
  }
  child.once('error', (error) => { if (child.pid === undefined) fail(classifySpawnError(error, request)) })
  if (child.pid === undefined) return
  // Read before the event loop turns: until then even a child that has already ended still has its row.
  const identity = identify(child.pid, 'zombies')
  if (identity === null) throw new Error(`child ${child.pid} is not in the process table`)
  record(identity, tag?.raised ?? null)
  tell('started')
  void watch(request, child, identity, startedAt)
}

async function watch(request: LaunchRequest, child: ChildProcess, identity: ProcessIdentity, startedAt: number): Promise<void> {
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error('the child has no pipes')
  let endedByKeeper: EndReason | null = null
  const hurry = new AbortController()
  let lost: () => void = () => undefined
  const exited = new Promise<ExitFact>((resolve) => {
    child.once('exit', (code, signal) => resolve({ known: true, code, signal }))
    lost = () => resolve({ known: false })
  })
  endTree = (reason, urgency) => {
    if (urgency === 'now') hurry.abort()
    if (endedByKeeper !== null) return
    endedByKeeper = reason
    void climbKillLadder(new LaunchTree(identity), request.killGraceMs, hurry.signal).then(() => setTimeout(lost, LOST_MS))
  }
  if (request.onEngineDeath === 'end') {
    onEngineGone = () => endTree({ kind: 'stop' }, 'ladder')
    if (process.stdin.readableEnded) onEngineGone()
  } else {
    onEngineGone = () => undefined
  }
  if (request.maxRuntimeMs > 0) {
    // The engine's watchdog acts first; the slack lets it finish its own ladder.
    const bound = Math.min(request.maxRuntimeMs + 2 * request.killGraceMs, LONGEST_TIMER_MS)
    setTimeout(() => endTree({ kind: 'keeper-bound' }, 'ladder'), bound)
  }
  // EPIPE: the child ended without reading its prompt; its exit tells the story (F21).
  stdin.on('error', () => undefined)
  stdin.end(request.prompt)
  const pumped = Promise.all([
    pumpToFile(stdout, {
      path: join(dir, LAUNCH_FILES.stdout), maxBytes: request.maxStreamBytes, tailBytes: 0, onOverflow: () => endTree({ kind: 'flooded' }, 'ladder'),
    }),
    pumpToFile(stderr, {
      path: join(dir, LAUNCH_FILES.stderr), maxBytes: Math.min(STDERR_HEAD_BYTES, request.maxStreamBytes), tailBytes: STDERR_TAIL_BYTES, onOverflow: () => undefined,
    }),
  ]).catch((error: unknown) => {
    note(error)
    endTree({ kind: 'stop' }, 'now')
  })
  const exit = await exited
  const durationMs = Math.round(performance.now() - startedAt)
  // `close` may never come: a process left behind can hold the pipe for its whole life (F16).
  const drained = setTimeout(() => { stdout.destroy(); stderr.destroy() }, DRAIN_MS)
  await pumped
  clearTimeout(drained)
  await waitForSpace(() => writeWhole(join(dir, LAUNCH_FILES.exit), { v: 1, kind: 'exit', exit, endedByKeeper, durationMs }, 'durable'))
  process.exit(0)
}

function fail(failure: SpawnFailure): void {
  writeWhole(join(dir, LAUNCH_FILES.exit), { v: 1, kind: 'spawn-failed', failure }, 'durable')
  tell('failed')
  process.exit(0)
}

/** Nobody reads our stderr: what went wrong in here goes beside the other files of the launch. */
function note(error: unknown): void {
  const text = error instanceof Error ? error.stack ?? error.message : String(error)
  appendFileSync(join(dir, LAUNCH_FILES.keeperLog), `${text}\n`, { mode: 0o600 })
}

/** One word to the engine that started us; it may be gone. */
function tell(word: string): void {
  try {
    writeSync(1, `${word}\n`)
  } catch {
    // EPIPE: the engine is gone and the next one reads the files.
  }
}

/**
 * Gives the child an `oom_score_adj` a little above ours. Every process inherits it, also one that dropped its environment and its session, while a
 * shell that a user opens in the workspace has another one: that is how the sweep tells them apart. Our own value is put back at once.
 */
function raiseTag(marker: string): { readonly raised: number, readonly own: number } | null {
  try {
    const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'))
    const raised = own + 1 + Buffer.from(marker).reduce((sum, byte) => (sum * 31 + byte) % 97, 0)
    if (raised > 1000) return null
    writeFileSync('/proc/self/oom_score_adj', String(raised))
    return { raised, own }
  } catch {
    // No /proc, or a read-only one: the sweep then goes by parent and terminal.
    return null
  }
}

function lowerTag(tag: { readonly own: number } | null): void {
  if (tag === null) return
  try {
    writeFileSync('/proc/self/oom_score_adj', String(tag.own))
  } catch {
    // EACCES where the value may only be raised: the keeper keeps the child's value, and the sweep spares the keeper by its identity.
  }
}
