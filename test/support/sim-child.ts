/** Starts a simulated OpenClaude as a real child and waits for what it writes. The caller ends what it started. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Scenario } from '../../src/simulator/scenario.ts'
import { SIM_COMMAND, writeScenario } from './sim-rig.ts'

export const STREAM_ARGS: readonly string[] = ['--print', '--yolo', '--output-format', 'stream-json', '--verbose', '--heartbeat', '5s']

export interface SimProcess {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: () => string
  readonly records: () => readonly Readonly<Record<string, unknown>>[]
  /** Resolves once the condition holds for stdout; rejects if the child ends before. */
  readonly until: (found: (stdout: string) => boolean) => Promise<void>
  readonly exited: Promise<{ readonly code: number | null, readonly signal: string | null }>
  /** Every holder of the pipes is gone. */
  readonly closed: Promise<void>
  readonly stderr: () => string
}

export interface SimProcessRequest {
  readonly dir: string
  readonly args?: readonly string[]
  readonly prompt?: string
  readonly scenario?: Scenario
  readonly env?: Readonly<Record<string, string>>
}

/** HOME and working directory are `dir`; heartbeats come every 50 ms. */
export function startSimProcess(request: SimProcessRequest): SimProcess {
  const { dir } = request
  const [program = '', ...first] = SIM_COMMAND
  const chosen = request.scenario === undefined ? {} : writeScenario(dir, request.scenario)
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, TMPDIR: dir, IS_SANDBOX: '1', OPENCLAUDE_SIM_HEARTBEAT_MS: '50', ...chosen, ...request.env }
  const child = spawn(program, [...first, ...request.args ?? STREAM_ARGS], { cwd: dir, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
      for (const look of waiting) look()
    })
  }
  child.stdin.on('error', () => undefined)
  child.stdin.end(request.prompt ?? 'do it')
  const exited = new Promise<{ readonly code: number | null, readonly signal: string | null }>(resolve => {
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
  const closed = new Promise<void>(resolve => child.on('close', () => resolve()))
  return {
    child,
    pid: child.pid ?? -1,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    records: () => output.stdout.split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line) as Record<string, unknown>),
    until: found => new Promise((resolve, reject) => {
      const look = (): void => {
        if (!found(output.stdout)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      void closed.then(() => reject(new Error(`the child ended before: ${output.stdout}${output.stderr}`)))
      look()
    }),
    exited,
    closed,
  }
}

/** Gone or a zombie nobody reaped. */
export function isGone(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return true
  }
}

/** Polls with a generous ceiling. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const until = performance.now() + 20_000
  while (!holds()) {
    if (performance.now() > until) throw new Error(`did not happen within 20 s: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
