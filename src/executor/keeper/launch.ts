/**
 * Starts a launch: writes its request, starts a keeper, hands it the rest through its pipe, waits for its word.
 * The caller has journalled the intent before; whatever happens in between, `recoverLaunch` finds out.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SpawnFailure } from '../../core/attempt-types.ts'
import { identify, ownOrigin, signalProcess } from '../process/identity.ts'
import { claimLaunch, LAUNCH_FILES, readExitFile, readLaunchFile, writeWhole } from './launch-files.ts'
import type { LaunchRequest, StartedLaunch } from './launch-types.ts'
import { openLaunch } from './live-launch.ts'

/** A keeper is up within 0.1 s; a machine that needs a minute has another problem. */
const KEEPER_START_MS = 60_000

const KEEPER = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? 'keeper.ts' : 'keeper.js', import.meta.url))
/** The keeper only moves bytes: a small young generation keeps its memory small. */
const KEEPER_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=64']

export async function startLaunch(request: LaunchRequest): Promise<StartedLaunch> {
  const { dir } = request
  let keeper: ChildProcess
  try {
    writeWhole(join(dir, LAUNCH_FILES.spec), specOf(request), 'fast')
    keeper = spawnKeeper(request)
  } catch (error) {
    return { kind: 'failed', failure: keeperFailure(error instanceof Error ? error.message : String(error)) }
  }
  const word = await firstWord(keeper, request)
  const exit = readExitFile(dir)
  if (exit?.kind === 'spawn-failed') return { kind: 'failed', failure: exit.failure }
  // Once the claim is ours no child exists and none can come. Where it is the keeper's, one may: then this is a launch like any other, or one that lost its keeper.
  const noChild = (readLaunchFile(dir)?.child ?? null) === null && claimLaunch(dir, 'engine') === 'engine'
  const known = readLaunchFile(dir)
  if (noChild || known === null) {
    stopKeeper(keeper)
    return { kind: 'failed', failure: keeperFailure(word) }
  }
  const release = (): void => { keeper.stdin?.destroy() }
  const { launch, look } = openLaunch(request, known.keeper, known.child, 0, { release })
  keeper.once('exit', () => { void look() })
  return { kind: 'live', launch }
}

/** Only what the keeper itself needs. It stands in `/`, so that no workspace is held by it. */
function spawnKeeper({ dir, marker }: LaunchRequest): ChildProcess {
  const env: NodeJS.ProcessEnv = { [marker.name]: marker.value }
  for (const name of ['PATH', 'HOME']) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  return spawn(process.execPath, [...KEEPER_FLAGS, KEEPER, dir], { cwd: '/', env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
}

/** Resolves with the keeper's word, or with why none came. */
function firstWord(keeper: ChildProcess, request: LaunchRequest): Promise<string> {
  return new Promise((resolve) => {
    const { stdin, stdout } = keeper
    const timer = setTimeout(() => done(`no word from it within ${KEEPER_START_MS} ms`), KEEPER_START_MS)
    const done = (word: string): void => {
      clearTimeout(timer)
      stdout?.destroy()
      keeper.unref()
      if (stdin instanceof Socket) stdin.unref()
      resolve(word)
    }
    keeper.once('error', error => done(error.message))
    keeper.once('exit', (code, signal) => done(`it ended with ${signal ?? `code ${code}`}`))
    stdout?.once('data', (word: Buffer) => done(word.toString('utf8').trim()))
    // EPIPE: the keeper ended before it read its request; its exit is the news.
    stdin?.on('error', () => undefined)
    stdin?.write(`${JSON.stringify(request)}\n`)
  })
}

function stopKeeper(keeper: ChildProcess): void {
  const identity = keeper.pid === undefined || keeper.exitCode !== null ? null : identify(keeper.pid)
  if (identity !== null) signalProcess(identity, 'SIGKILL')
}

function keeperFailure(why: string): SpawnFailure {
  const noResources = /EMFILE|ENFILE|EAGAIN|ENOMEM|ENOSPC|EDQUOT/.test(why)
  return {
    reason: noResources ? 'no-resources' : 'keeper',
    message: `The keeper of the child could not be started with ${process.execPath}: ${why}.`,
    key: noResources ? 'no-resources:keeper' : 'keeper',
  }
}

function specOf(request: LaunchRequest): Parameters<typeof writeWhole>[1] {
  const { argv, cwd, workspaceRoot, env, marker, maxStreamBytes, maxRuntimeMs, killGraceMs, onEngineDeath } = request
  return {
    v: 1, origin: ownOrigin(), argv, cwd, workspaceRoot, envNames: Object.keys(env).toSorted(), marker,
    limits: { maxStreamBytes, maxRuntimeMs, killGraceMs }, onEngineDeath,
  }
}
