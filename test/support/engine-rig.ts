/** Whole runs over the cheap executor: the arguments of one, in this process or in a child that may be killed. */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { resolveConfig } from '../../src/config.ts'
import type { Graph } from '../../src/core/graph-types.ts'
import { resumeRun, startRun, type RunsContext } from '../../src/engine/runs/runs.ts'
import { CHEAP, cheapExecutor } from './cheap-executor.ts'

const CHILD = fileURLToPath(new URL('../children/crash-engine.ts', import.meta.url))

export interface EngineArguments {
  /** Existing folder; project, state and ledger are made in it. */
  readonly folder: string
  readonly graph: Graph
  readonly config?: Readonly<Record<string, unknown>>
}

export interface EngineRig extends EngineArguments {
  readonly ledger: string
  readonly journalPath: () => string
  /** Drives the run to its end in this process. Resolves with what the run came to. */
  readonly resume: () => Promise<string>
  readonly start: () => Promise<string>
  /** Starts the run in a process of its own. */
  readonly spawn: (command: 'start' | 'resume', env?: Readonly<Record<string, string>>) => EngineChild
}

export interface EngineChild {
  readonly pid: number
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<{ readonly code: number | null, readonly signal: string | null, readonly stderr: string }>
}

export function cheapGraph(tasks: readonly (readonly [id: string, ...dependencies: readonly string[]])[]): Graph {
  return {
    tasks: tasks.map(([id, ...dependencies]) => ({
      id, title: id, description: '', acceptanceCriteria: [], dependencies, priority: 0, assignee: CHEAP,
    })),
  }
}

/** Five tasks: a, then b and c, then d, then e. */
export const CHEAP_DIAMOND: Graph = cheapGraph([['a'], ['b', 'a'], ['c', 'a'], ['d', 'b', 'c'], ['e', 'd']])

export function engineRig(given: EngineArguments): EngineRig {
  const { folder } = given
  mkdirSync(join(folder, 'project'), { recursive: true })
  const file = join(folder, 'engine.json')
  writeFileSync(file, JSON.stringify(given))
  return {
    ...given,
    ledger: join(folder, 'ledger'),
    journalPath: () => {
      const [repository = ''] = readdirSync(join(folder, 'state'))
      const runs = join(folder, 'state', repository, 'runs')
      return join(runs, readdirSync(runs).sort().at(-1) ?? '', 'journal.ndjson')
    },
    start: () => driveNew(given),
    resume: () => driveOld(given),
    spawn: (command, env = {}) => {
      const child = spawn(process.execPath, ['--unhandled-rejections=strict', CHILD, command, file], {
        stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
      })
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text })
      const ended = new Promise<{ code: number | null, signal: string | null, stderr: string }>(resolve => child.on('close', (code, signal) => resolve({ code, signal, stderr })))
      return { pid: child.pid ?? -1, kill: signal => void child.kill(signal), ended }
    },
  }
}

export async function driveNew(given: EngineArguments): Promise<string> {
  const active = await startRun({ ...contextOf(given), graph: given.graph, graphPath: null })
  active.start()
  const { end } = await active.finished
  return end.kind === 'finished' ? end.result.kind : end.kind
}

export async function driveOld(given: EngineArguments): Promise<string> {
  const resumed = await resumeRun({ ...contextOf(given), run: null })
  if (resumed.kind === 'finished') return resumed.result.kind
  resumed.active.start()
  const { end } = await resumed.active.finished
  return end.kind === 'finished' ? end.result.kind : end.kind
}

function contextOf({ folder, config = {} }: EngineArguments): RunsContext {
  const value = { workdir: join(folder, 'project'), stateDir: join(folder, 'state'), acceptUnverified: true, contextStrategy: 'minimal', maxConcurrency: 4, supervisorEnabled: false, ...config }
  return {
    config: resolveConfig({ flag: { value, source: 'test' } }, { cwd: folder, home: folder, env: {}, surface: 'cli' }),
    version: '0.0.0',
    observers: [],
    executors: [cheapExecutor(join(folder, 'ledger'))],
  }
}
