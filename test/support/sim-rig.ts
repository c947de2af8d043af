/**
 * Drives simulated OpenClaude children step by step: a test awaits the next child, commands it and gets an acknowledgement per step, so nothing sleeps.
 * Also gives the ways to start the simulator from a test. Owns a socket in a temporary folder; `close` ends every child that is still connected.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { SimCommand, SimHello, SimReport } from '../../src/simulator/remote.ts'
import type { Scenario, Step } from '../../src/simulator/scenario.ts'

export const SIM_MAIN: string = fileURLToPath(new URL('../../src/simulator/main.ts', import.meta.url))

/** Program and first arguments. */
export const SIM_COMMAND: readonly string[] = [process.execPath, SIM_MAIN]

/** Writes an executable file into `dir` that is the simulator (same pid: the shell is replaced). Returns its path. */
export function writeSimExecutable(dir: string, env: Readonly<Record<string, string>> = {}): string {
  const path = join(dir, 'openclaude')
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}\n`).join('')
  writeFileSync(path, `#!/bin/sh\n${exports}exec ${SIM_COMMAND.map(quote).join(' ')} "$@"\n`)
  chmodSync(path, 0o755)
  return path
}

/** Writes the scenario into `dir` and returns the variables that select it; counters and the launch log (`launches.ndjson`) live in `<dir>/sim-state`. */
export function writeScenario(dir: string, scenario: Scenario): Record<string, string> {
  const path = join(dir, 'scenario.json')
  writeFileSync(path, JSON.stringify(scenario, null, 2))
  return { OPENCLAUDE_SIM_SCENARIO: path, OPENCLAUDE_SIM_STATE: join(dir, 'sim-state') }
}

/** A step that is going on. */
export interface RunningStep {
  /** Pid of the tool's process (0 = a tool without one). Settles when the tool began. */
  readonly started: Promise<number>
  /** Rejects when the step failed or the child went away. */
  readonly done: Promise<void>
}

export interface SimChild {
  readonly hello: SimHello
  /** Plays one step to its end. A `hang` without `ms` is acknowledged at once: an idle child is a hanging model. */
  readonly play: (step: Step) => Promise<void>
  /** For tools that take long: returns at once. */
  readonly begin: (step: Step) => RunningStep
  readonly say: (text: string, options?: { readonly more?: boolean }) => Promise<void>
  readonly heartbeat: (forged?: { readonly state?: string, readonly phase?: string, readonly fields?: Readonly<Record<string, unknown>> }) => Promise<void>
  /** Result record if none was sent, then the normal end. */
  readonly finish: () => Promise<void>
  readonly exit: (code: number) => Promise<void>
  /** Settles when the child's connection is gone. */
  readonly gone: Promise<void>
}

export interface SimRig {
  /** To be added to the environment of the children. */
  readonly env: Readonly<Record<string, string>>
  /** The next child that connects, in order of connection. */
  readonly nextChild: () => Promise<SimChild>
  readonly close: () => Promise<void>
}

/** `heartbeatMs` replaces the interval of --heartbeat in the children (default 50). */
export async function startSimRig(options: { readonly heartbeatMs?: number } = {}): Promise<SimRig> {
  const dir = mkdtempSync(join(tmpdir(), 'sim-'))
  const path = join(dir, 's')
  const connected: SimChild[] = []
  const waiting: ((child: SimChild) => void)[] = []
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    void meet(socket).then(child => {
      const taker = waiting.shift()
      if (taker === undefined) connected.push(child)
      else taker(child)
    })
  })
  await new Promise<void>(resolve => server.listen(path, resolve))
  return {
    env: { OPENCLAUDE_SIM_SOCKET: path, OPENCLAUDE_SIM_HEARTBEAT_MS: String(options.heartbeatMs ?? 50) },
    nextChild: () => {
      const child = connected.shift()
      return child === undefined ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(child)
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>(resolve => server.close(() => resolve()))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

interface Pending {
  readonly started: (pid: number) => void
  readonly done: () => void
  readonly failed: (error: Error) => void
}

function meet(socket: Socket): Promise<SimChild> {
  const pending = new Map<number, Pending>()
  let lastId = 0
  const gone = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.on('error', () => undefined)
  const command = (make: (id: number) => SimCommand, mayVanish: boolean): RunningStep => {
    lastId += 1
    const id = lastId
    let started = (_pid: number): void => undefined
    const begun = new Promise<number>(resolve => {
      started = resolve
    })
    const done = new Promise<void>((resolve, reject) => {
      pending.set(id, { started, done: resolve, failed: error => mayVanish ? resolve() : reject(error) })
    })
    done.catch(() => undefined)
    socket.write(`${JSON.stringify(make(id))}\n`)
    return { started: begun, done }
  }
  void gone.then(() => {
    for (const entry of pending.values()) entry.failed(new Error('the simulated child went away before it acknowledged the step'))
    pending.clear()
  })
  const begin = (step: Step): RunningStep => command(id => ({ id, step }), step.do === 'exit' || step.do === 'die')
  return new Promise(resolve => {
    createInterface({ input: socket }).on('line', line => {
      const report = JSON.parse(line) as SimReport
      switch (report.type) {
        case 'hello':
          resolve({
            hello: report,
            gone,
            begin,
            play: step => begin(step).done,
            say: (text, more = {}) => begin({ do: 'text', text, ...more }).done,
            heartbeat: forged => begin({ do: 'heartbeat', ...forged }).done,
            exit: code => begin({ do: 'exit', code }).done,
            finish: () => command(id => ({ id, finish: true }), true).done,
          })
          return
        case 'started':
          pending.get(report.id)?.started(report.pid)
          return
        case 'ack': {
          const entry = pending.get(report.id)
          pending.delete(report.id)
          if (report.ok) entry?.done()
          else entry?.failed(new Error(`the simulated child could not play the step: ${report.error ?? 'unknown'}`))
          return
        }
        default:
          report satisfies never
      }
    })
  })
}

function quote(text: string): string {
  return `'${text.replaceAll(`'`, `'\\''`)}'`
}
