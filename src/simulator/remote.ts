/**
 * Lets a test decide each step over a unix socket (OPENCLAUDE_SIM_SOCKET). One JSON message per line:
 * out `hello` (once), `started` (a tool of the step began), `ack` (the step is over); in `{ id, step }` and `{ id, finish: true }`.
 * When the other end goes away the simulator ends with exit 70, so that no test leaves one behind.
 */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { interruptible, PlayOver } from './pause.ts'
import type { Player } from './play.ts'
import type { Step } from './scenario.ts'
import type { SimEnv } from './scenario-source.ts'
import { stepFaults } from './step-shapes.ts'
import type { Stage } from './stage.ts'

export interface SimHello {
  readonly type: 'hello'
  readonly pid: number
  readonly argv: readonly string[]
  readonly cwd: string
  readonly prompt: string
  readonly launch: 'fresh' | 'resume'
  readonly sessionId: string
  /** Values of the variables that concern the program; `envNames` has the names of all. */
  readonly env: Readonly<Record<string, string>>
  readonly envNames: readonly string[]
}

export type SimReport =
  | SimHello
  /** `pid` 0: the tool has no process. */
  | { readonly type: 'started', readonly id: number, readonly pid: number }
  | { readonly type: 'ack', readonly id: number, readonly ok: boolean, readonly error?: string }

export type SimCommand =
  | { readonly id: number, readonly step: Step }
  | { readonly id: number, readonly finish: true }

export interface Remote {
  /** Plays what arrives until the other end says that the turn is over. */
  readonly playTurn: (stage: Stage, player: Player, fill: (step: Step) => Step) => Promise<void>
  readonly close: () => void
}

const TOLD_NAMES = /^(?:OPENCLAUDE|CLAUDE|API_|OPENAI|ANTHROPIC|IS_SANDBOX$|BASH_|DSH|HOME$|PWD$|TMPDIR$|XDG_|CI$)/u
const NEVER_RETURN: ReadonlySet<Step['do']> = new Set(['exit', 'die'])

export async function connectRemote(path: string, hello: Omit<SimHello, 'type' | 'env' | 'envNames'>, env: SimEnv, lost: () => void): Promise<Remote> {
  const socket = connect(path)
  await once(socket, 'connect')
  const commands = queueOf(socket)
  let expected = false
  socket.on('error', () => undefined)
  socket.on('close', () => {
    if (!expected) lost()
  })
  await send(socket, { ...hello, type: 'hello', env: toldEnv(env), envNames: Object.keys(env).toSorted() })
  return {
    close: () => {
      expected = true
      socket.destroy()
    },
    playTurn: async (stage, player, fill) => {
      for (;;) {
        const command = await interruptible(commands(), stage.interrupt.signal)
        if ('finish' in command) {
          await send(socket, { type: 'ack', id: command.id, ok: true })
          return
        }
        await playOne(socket, stage, player, { id: command.id, step: fill(command.step) })
      }
    },
  }
}

async function playOne(socket: Socket, stage: Stage, player: Player, { id, step }: { readonly id: number, readonly step: Step }): Promise<void> {
  const fault = stepFaults(step, 'step')[0]
  if (fault !== undefined) return send(socket, { type: 'ack', id, ok: false, error: fault })
  const idle = step.do === 'hang' && step.ms === undefined && (step.loop ?? 'alive') === 'alive' && step.at !== 'exit'
  const blocks = NEVER_RETURN.has(step.do) || (step.do === 'hang' && step.ms === undefined)
  if (idle || blocks) await send(socket, { type: 'ack', id, ok: true })
  if (idle) return
  stage.toolStarted = pid => void send(socket, { type: 'started', id, pid })
  try {
    await player.step(step, undefined, null)
  } catch (error) {
    const over = error instanceof PlayOver ? { ok: true } : { ok: false, error: error instanceof Error ? error.name : String(error) }
    if (!blocks) await send(socket, { type: 'ack', id, ...over })
    throw error
  }
  if (!blocks) await send(socket, { type: 'ack', id, ok: true })
}

/** Resolves once the kernel has the bytes. */
function send(socket: Socket, report: SimReport): Promise<void> {
  return new Promise(resolve => {
    socket.write(`${JSON.stringify(report)}\n`, () => resolve())
  })
}

function queueOf(socket: Socket): () => Promise<SimCommand> {
  const waiting: ((command: SimCommand) => void)[] = []
  const arrived: SimCommand[] = []
  createInterface({ input: socket }).on('line', line => {
    const command = JSON.parse(line) as SimCommand
    const taker = waiting.shift()
    if (taker === undefined) arrived.push(command)
    else taker(command)
  })
  return () => {
    const next = arrived.shift()
    return next === undefined ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(next)
  }
}

function toldEnv(env: SimEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => TOLD_NAMES.test(entry[0]) && entry[1] !== undefined))
}
