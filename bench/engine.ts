/**
 * What the engine itself costs per task, over an executor that does nothing: `node bench/engine.ts [tasks]`. CPU of this process and its children.
 * Compared in the same run with (a) the same loop without a journal, reports and run folder, and (b) a bare loop that spawns /bin/true.
 * Prints one line per shape for people on stderr, one JSON line on stdout; exits 1 when a task costs more than two spawns.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveConfig } from '../src/config.ts'
import type { ConfigWithOrigins } from '../src/core/config-types.ts'
import type { Graph } from '../src/core/graph-types.ts'
import { runPolicy } from '../src/core/run-policy.ts'
import { newRunState } from '../src/core/run-state.ts'
import { Engine } from '../src/engine/drive/engine.ts'
import { assemble } from '../src/engine/runs/assemble.ts'
import { startRun } from '../src/engine/runs/runs.ts'
import { createRedactor } from '../src/engine/secrets/redact.ts'
import { CHEAP, cheapExecutor } from '../test/support/cheap-executor.ts'

const LIMIT = 2
const SPAWNS = 500
const TICK_MS = 10

const tasks = Number(process.argv[2] ?? 10_000)
const folder = mkdtempSync(join(tmpdir(), 'bench-engine-'))
const project = join(folder, 'project')
mkdirSync(project)

const shapes: Readonly<Record<string, (index: number) => readonly string[]>> = {
  independent: () => [],
  chain: index => (index === 0 ? [] : [`t${index - 1}`]),
}

try {
  const spawnMs = await perTask(SPAWNS, spawnLoop)
  const results = []
  for (const [shape, dependencies] of Object.entries(shapes)) {
    const graph: Graph = {
      tasks: Array.from({ length: tasks }, (_, index) => ({
        id: `t${index}`, title: `Task ${index}`, description: 'A task.', acceptanceCriteria: [], dependencies: dependencies(index), priority: 0, assignee: CHEAP,
      })),
    }
    const loopMs = await perTask(tasks, () => bareLoop(graph))
    const runMs = await perTask(tasks, () => wholeRun(graph))
    results.push({ shape, tasks, runMs: round(runMs), loopMs: round(loopMs), spawnMs: round(spawnMs), againstLoop: round(runMs / loopMs), againstSpawn: round(runMs / spawnMs) })
  }
  for (const { shape, runMs, loopMs, spawnMs: spawned, againstLoop, againstSpawn } of results) {
    console.error(`engine, ${tasks} ${shape} tasks: ${runMs} CPU-ms a task; ${againstLoop} x the loop without a journal (${loopMs}), ${againstSpawn} x a spawn of /bin/true (${spawned})`)
  }
  console.log(JSON.stringify({ bench: 'engine', limit: LIMIT, results }))
  if (results.some(({ againstSpawn }) => againstSpawn > LIMIT)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function wholeRun(graph: Graph): Promise<void> {
  const active = await startRun({ config: configured(), graph, graphPath: null, version: '0', observers: [], executors: [cheapExecutor(null)] })
  active.start()
  expectComplete((await active.finished).end)
}

async function bareLoop(graph: Graph): Promise<void> {
  const { config } = configured()
  const { parts, registry } = await assemble({
    config, workdir: project, evidenceDir: null, redactor: createRedactor({ env: {} }), envMode: 'inherit', executors: [cheapExecutor(null)], hostModel: null, pinned: null,
  })
  const runDir = mkdtempSync(join(folder, 'loop-'))
  const state = newRunState(graph, 'bench', runPolicy(config, registry.agents()))
  const engine = new Engine({ run: 'bench', runDir, version: '0', state, parts, append: () => Promise.resolve(), observers: [] })
  engine.start({ before: [{ type: 'created', graphSha256: '' }], after: [] })
  expectComplete(await engine.finished)
}

async function spawnLoop(): Promise<void> {
  for (let index = 0; index < SPAWNS; index += 1) {
    await new Promise<void>((resolve, reject) => spawn('/bin/true', { stdio: 'ignore' }).once('exit', () => resolve()).once('error', reject))
  }
}

function configured(): ConfigWithOrigins {
  const value = { workdir: project, stateDir: join(folder, 'state'), acceptUnverified: true, contextStrategy: 'minimal', maxConcurrency: 8, supervisorEnabled: false }
  return resolveConfig({ flag: { value, source: 'bench' } }, { cwd: folder, home: folder, env: {}, surface: 'cli' })
}

function expectComplete(end: { readonly kind: string, readonly result?: { readonly kind: string } }): void {
  if (end.result?.kind !== 'complete') throw new Error(`the run ended as ${JSON.stringify(end)}`)
}

/** CPU-ms of this process and of children that were waited for, per task. */
async function perTask(count: number, work: () => Promise<void>): Promise<number> {
  const own = process.cpuUsage()
  const children = childTicks()
  await work()
  const { user, system } = process.cpuUsage(own)
  return ((user + system) / 1000 + (childTicks() - children) * TICK_MS) / count
}

/** User and system time of waited-for children, in clock ticks (fields 16 and 17 of proc(5)). */
function childTicks(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[13]) + Number(fields[14])
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
