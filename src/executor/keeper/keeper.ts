/**
 * The keeper: a detached program, one per launch, that alone is the parent of the child (SEMANTICS 7). `node keeper.js <launch directory>`.
 * The first line on stdin is the launch request; the pipe then stays open as a life-line to the engine. The keeper outlives the engine, pumps the
 * child's output into capped files, bounds its run time, records its end, and exits. It never starts a child in a directory that was claimed.
 */
import type { ChildProcess } from 'node:child_process'
import { appendFileSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import spawn from 'cross-spawn'
import type { SpawnFailure } from '../../core/attempt-types.ts'
import { identify } from '../process/identity.ts'
import { withInheritedTag } from '../process/inherited-tag.ts'
import type { KeeperEvents } from './keep-child.ts'
import { keepChild, LOST_MS } from './keep-child.ts'
import { claimLaunch, LAUNCH_FILES, writeWhole } from './launch-files.ts'
import type { LaunchRequest } from './launch-types.ts'
import { checkCwd, classifySpawnError } from './spawn-failure.ts'

const dir = process.argv[2] ?? ''
const file = (name: keyof typeof LAUNCH_FILES): string => join(dir, LAUNCH_FILES[name])

// Before there is a child, each of these only means that none shall be started.
const events: KeeperEvents = { end: () => process.exit(0), engineGone: () => process.exit(0) }

for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => undefined)
process.on('SIGTERM', () => events.end({ kind: 'stop' }, 'ladder'))
process.on('uncaughtException', (error) => {
  note(error)
  events.end({ kind: 'stop' }, 'now')
  setTimeout(() => process.exit(70), LOST_MS)
})
process.stdin.on('end', () => events.engineGone())
process.stdin.on('error', () => events.engineGone())
readFirstLine((line) => { void keep(JSON.parse(line) as LaunchRequest) })

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

async function keep(request: LaunchRequest): Promise<void> {
  const startedAt = performance.now()
  const keeper = identify(process.pid)
  if (keeper === null) throw new Error('the keeper does not find itself in the process table')
  writeWhole(file('launch'), { v: 1, keeper, child: null, tag: null }, 'fast')
  // Opened before there is a child: from the spawn on nothing may come between its pipes and us.
  const output = { stdout: await open(file('stdout'), 'a', 0o600), stderr: await open(file('stderr'), 'a', 0o600) }
  // Only now, so that whoever finds the claim finds the claimant's identity. From here to `keepChild` there is no await.
  if (claimLaunch(dir, 'keeper') !== 'keeper') process.exit(0)

  const cwdFailure = checkCwd(request.cwd)
  if (cwdFailure !== null) return fail(cwdFailure)
  const spawned = spawnTagged(request)
  if (spawned === null) return
  const { value: child, tag } = spawned
  child.once('error', (error) => { if (child.pid === undefined) fail(classifySpawnError(error, request)) })
  if (child.pid === undefined) return
  // Read before the event loop turns: until then even a child that has already ended still has its row.
  const identity = identify(child.pid, 'zombies')
  if (identity === null) {
    child.kill('SIGKILL')
    throw new Error(`child ${child.pid} is not in the process table`)
  }
  await keepChild(dir, request, { process: child, launch: { v: 1, keeper, child: identity, tag }, output, startedAt }, events, () => tell('started'), note)
  process.exit(0)
}

function spawnTagged(request: LaunchRequest): ReturnType<typeof withInheritedTag<ChildProcess>> | null {
  const { argv: [program = '', ...args], cwd, env, marker } = request
  try {
    return withInheritedTag(marker.value, () => spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }))
  } catch (error) {
    // Node throws for arguments that can't be passed at all; no child exists then (F24).
    fail(classifySpawnError(error, request))
    return null
  }
}

function fail(failure: SpawnFailure): void {
  writeWhole(file('exit'), { v: 1, kind: 'spawn-failed', failure }, 'durable')
  tell('failed')
  process.exit(0)
}

/** Nobody reads our stderr: what went wrong in here goes beside the other files of the launch. */
function note(error: unknown): void {
  const text = error instanceof Error ? error.stack ?? error.message : String(error)
  try {
    appendFileSync(file('keeperLog'), `${text}\n`, { mode: 0o600 })
  } catch {
    // The disk is full or the directory is gone: there is no other place to say it.
  }
}

/** One word to the engine that started us; it may be gone. */
function tell(word: string): void {
  try {
    writeSync(1, `${word}\n`)
  } catch {
    // EPIPE: the engine is gone and the next one reads the files.
  }
}
