/** Kills an engine at random instants and starts it again until its work is done; then reads the world and reports what happened to each task. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readLaunchFile } from '../../src/executor/keeper/launch-files.ts'
import { isAlive, signalProcess } from '../../src/executor/process/identity.ts'
import { isDead, listProcesses, readEnviron } from '../../src/executor/process/process-table.ts'
import type { Line } from '../children/mini-engine.ts'

const ENGINE = fileURLToPath(new URL('../children/mini-engine.ts', import.meta.url))

const WINDOW_MS = 700

/** Everything that must hold, as one value. */
export interface AdoptionWorld {
  readonly overlaps: readonly string[]
  /** Per task: how often an owner started and ended. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** Per task: results of journalled ends. */
  readonly results: readonly (readonly (string | null | undefined)[])[]
  /** Every journalled exit that is not a seen `exit 0`. */
  readonly oddExits: readonly string[]
  readonly lineCounts: readonly (number | undefined)[]
  readonly processesLeft: readonly number[]
}

export interface AdoptionFigures {
  readonly kills: number
  readonly adopted: number
  readonly foundEnded: number
  readonly neverStarted: number
}

/** One round: an engine over `tasks` tasks, killed at random instants until it lives to its end; with `alsoKeepers` every second kill takes a keeper along. */
export async function runAdoptionRound(tasks: number, random: () => number, alsoKeepers = false): Promise<{ readonly world: AdoptionWorld, readonly figures: AdoptionFigures }> {
  const folder = mkdtempSync(join(tmpdir(), 'adoption-'))
  const prefix = folder.slice(-6)
  let kills = 0
  // Grows from kill to kill, so that a round also ends on a machine where a keeper takes seconds to start.
  let windowMs = WINDOW_MS
  for (;;) {
    const engine = spawn(process.execPath, [ENGINE, folder, String(tasks), prefix], { stdio: ['ignore', 'pipe', 'pipe'] })
    let errors = ''
    engine.stderr.on('data', (text: Buffer) => { errors += text.toString() })
    const exit = once(engine, 'exit') as Promise<[number | null, string | null]>
    await Promise.race([once(engine.stdout, 'data'), exit])
    const timer = setTimeout(() => engine.kill('SIGKILL'), random() * windowMs)
    const [code, signal] = await exit
    clearTimeout(timer)
    windowMs *= 1.1
    if (code === 0) break
    if (signal !== 'SIGKILL') throw new Error(`the engine failed: ${errors}`)
    kills += 1
    if (alsoKeepers && kills % 2 === 0) killAKeeper(folder, random)
  }
  const lines = readFileSync(join(folder, 'journal'), 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line) as Line)
  const owners = readFileSync(join(folder, 'owners'), 'utf8').split('\n').filter(Boolean)
  const perTask = <T>(pick: (task: number) => T): readonly T[] => Array.from({ length: tasks }, (_, task) => pick(task))
  const ends = lines.filter(line => line.kind === 'ended')
  const world: AdoptionWorld = {
    overlaps: owners.filter(line => line.startsWith('OVERLAP')),
    starts: perTask(task => owners.filter(line => line.startsWith(`start ${task} `)).length),
    ends: perTask(task => owners.filter(line => line.startsWith(`end ${task} `)).length),
    results: perTask(task => ends.filter(line => line.task === task).map(line => line.result)),
    oddExits: ends.map(line => JSON.stringify(line.exit?.exit)).filter(exit => exit !== '{"known":true,"code":0,"signal":null}'),
    lineCounts: ends.map(line => line.lines),
    processesLeft: await processesLeft(prefix),
  }
  const count = (kind: Line['kind']): number => lines.filter(line => line.kind === kind).length
  rmSync(folder, { recursive: true, force: true })
  return { world, figures: { kills, adopted: count('adopted'), foundEnded: count('found-ended'), neverStarted: count('never-started') } }
}

/** What a flawless round looks like. */
export function flawlessWorld(tasks: number): AdoptionWorld {
  const each = <T>(make: (task: number) => T): readonly T[] => Array.from({ length: tasks }, (_, task) => make(task))
  return {
    overlaps: [],
    starts: each(() => 1),
    ends: each(() => 1),
    results: each(task => [`${task} read ${task % 2 === 0 ? 1000 : 400_000}`]),
    oddExits: [],
    lineCounts: each(() => 12),
    processesLeft: [],
  }
}

function killAKeeper(folder: string, random: () => number): void {
  const keepers = readdirSync(folder).filter(name => name.startsWith('t')).flatMap(name => readLaunchFile(join(folder, name))?.keeper ?? []).filter(isAlive)
  const chosen = keepers[Math.floor(random() * keepers.length)]
  if (chosen !== undefined) signalProcess(chosen, 'SIGKILL')
}

/** Late keepers leave by themselves: they get ten seconds. */
async function processesLeft(prefix: string): Promise<readonly number[]> {
  for (let tries = 0; ; tries++) {
    const left = listProcesses().filter(row => !isDead(row) && readEnviron(row.pid)?.includes(`DSH_TEST_MARK=${prefix}-`) === true).map(row => row.pid)
    if (left.length === 0 || tries === 100) return left
    await sleep(100)
  }
}

/** Deterministic numbers in [0, 1), so that a failing round can be named by its seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
