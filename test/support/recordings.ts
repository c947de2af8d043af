/** Recorded runs of the real command line, as steps for the watchdog and as records. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ChildRecord } from '../../src/executor/stream/child-record.ts'
import { decodeRecord } from '../../src/executor/stream/liveness.ts'
import type { Step } from './watch.ts'

const ROOT = fileURLToPath(new URL('../fixtures/transcripts/', import.meta.url))

export interface Recording {
  readonly name: string
  /** Lines at the time they came, until the recorder sent a signal. */
  readonly steps: readonly Step[]
  /** When the process was gone; when the recorder ended it, its first signal. */
  readonly endAt: number
  readonly endedByRecorder: boolean
}

interface TimedText {
  readonly t_ms: number
  readonly stream: 'stdout' | 'stderr' | 'signal'
  readonly text: string
}

interface RecordedExit {
  readonly code: number | null
  readonly signal: string | null
  readonly elapsed_ms: number
  readonly timed_out?: boolean
}

/** Names of the recordings that hold times and match `pattern`. */
export function timedRecordings(pattern: RegExp): readonly string[] {
  return readdirSync(ROOT).filter(name => pattern.test(name) && existsSync(`${ROOT}${name}/timeline.jsonl`)).toSorted()
}

export function readRecording(name: string): Recording {
  const events = readText(name, 'timeline.jsonl').split('\n').filter(line => line !== '').map(parseTimed)
  const exit = readExit(name)
  const signal = events.find(event => event.stream === 'signal')
  const endAt = signal?.t_ms ?? exit.elapsed_ms
  return {
    name,
    steps: framed(events.filter(event => event.t_ms <= endAt)),
    endAt,
    endedByRecorder: signal !== undefined || exit.timed_out === true,
  }
}

export function readExit(name: string): RecordedExit {
  const value: unknown = JSON.parse(readText(name, 'exit.json'))
  return value as RecordedExit
}

/** Every line of the recorded stdout, decoded. */
export function readRecords(name: string): readonly ChildRecord[] {
  return linesOf(readText(name, 'stdout.txt')).map(text => decodeRecord({ text, oversize: false, bytes: text.length }))
}

export function readText(name: string, file: string): string {
  return readFileSync(`${ROOT}${name}/${file}`, 'utf8')
}

function parseTimed(line: string): TimedText {
  const value: unknown = JSON.parse(line)
  return value as TimedText
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter(line => line !== '')
}

/** A chunk may hold several lines, or a part of one: a line counts from the chunk that ends it. */
function framed(events: readonly TimedText[]): readonly Step[] {
  const open = { stdout: '', stderr: '' }
  return events.flatMap((event): readonly Step[] => {
    const { stream, t_ms: at } = event
    if (stream === 'signal') return []
    const lines = (open[stream] + event.text).split('\n')
    open[stream] = lines.pop() ?? ''
    return lines.map(text => (stream === 'stderr' ? { at, stderr: text } : { at, stdout: text }))
  })
}
