/** Steps that misbehave on purpose: bytes that are no records, lines that are too long or cut, floods, and processes that escape. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { pause } from './pause.ts'
import { assistantRecord, textBlock, toolResultRecord } from './records.ts'
import type { Step } from './scenario.ts'
import type { Stage } from './stage.ts'

type StepOf<Name extends Step['do']> = Extract<Step, { readonly do: Name }>

export function writeRaw(stage: Stage, step: StepOf<'raw'>): void {
  stage.sink.raw(step.base64 === undefined ? step.text ?? '' : Buffer.from(step.base64, 'base64'), step.to ?? 'stdout')
}

export function writeLongLine(stage: Stage, step: StepOf<'long-line'>): void {
  const filling = 'x'.repeat(step.bytes)
  if (step.kind === 'garbage') {
    stage.sink.raw(`${filling}\n`, 'stdout')
    return
  }
  const call = { id: `call_long_${randomUUID().slice(0, 6)}`, name: 'Bash', input: {} }
  stage.sink.emit(toolResultRecord(call, { content: filling, isError: false, detail: null }, null))
}

const FLOOD_PIECE_BYTES = 65_536

/** Writes at least `bytes`, as fast as the reader takes them, without holding them in memory. */
export async function flood(stage: Stage, step: StepOf<'flood'>): Promise<void> {
  const line = `${step.line ?? 'flood'}\n`
  const piece = line.repeat(Math.max(1, Math.ceil(FLOOD_PIECE_BYTES / line.length)))
  for (let written = 0; written < step.bytes; written += piece.length) {
    stage.sink.raw(piece, step.to ?? 'stdout')
    await pause(0, stage.interrupt.signal)
  }
}

export async function writeSplitText(stage: Stage, step: StepOf<'split-text'>): Promise<void> {
  const record = assistantRecord(`msg_${randomUUID()}`, stage.model, textBlock(step.text), null)
  const bytes = Buffer.from(stage.sink.render(record))
  const size = step.pieceBytes ?? 1
  const beats = stage.heartbeat.switchTo(false)
  for (let at = 0; at < bytes.length; at += size) {
    stage.sink.raw(bytes.subarray(at, at + size), 'stdout')
    if (step.delayMs !== undefined) await pause(step.delayMs, stage.interrupt.signal)
  }
  stage.heartbeat.switchTo(beats)
  stage.heartbeat.activity()
}

/**
 * Starts a process that nobody waits for. Returns its first pid: of the process itself for `child` and `setsid`, of the short-lived parent else
 * (`pidFile` then tells the real one).
 */
export function spawnEscapee(stage: Stage, step: StepOf<'spawn'>): number {
  const notePid = step.pidFile === undefined ? '' : `echo $$ > ${quote(step.pidFile)}; `
  const deaf = step.ignoreSigterm === true ? `trap '' TERM; ` : ''
  const body = `${deaf}${notePid}${step.command}`
  const out = step.holdStdout === true ? 'inherit' : 'ignore'
  const options = { cwd: stage.cwd, env: stage.env, stdio: ['ignore', out, out] as const }
  const child = start(step.how, body, options)
  child.on('error', () => undefined)
  child.unref()
  return child.pid ?? 0
}

interface SpawnOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly stdio: readonly ['ignore', 'inherit' | 'ignore', 'inherit' | 'ignore']
}

function start(how: StepOf<'spawn'>['how'], body: string, options: SpawnOptions): ReturnType<typeof spawn> {
  const { cwd, env } = options
  const stdio = [...options.stdio]
  switch (how) {
    case 'child':
      return spawn('bash', ['-c', body], { cwd, env, stdio })
    case 'setsid':
      return spawn('bash', ['-c', body], { cwd, env, stdio, detached: true })
    case 'double-fork':
      return spawn('bash', ['-c', `setsid bash -c ${quote(body)} & exit 0`], { cwd, env, stdio, detached: true })
    case 'empty-env':
      return spawn('bash', ['-c', `env -i setsid bash -c ${quote(body)} & exit 0`], { cwd, env, stdio, detached: true })
    default:
      return how satisfies never
  }
}

function quote(text: string): string {
  return `'${text.replaceAll(`'`, `'\\''`)}'`
}
