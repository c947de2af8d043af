/**
 * What a run writes, by output format: stream-json line by line, json one object (or with --verbose one array) at the end, text the last result.
 * Owns session_id and uuid of records and the clock of the last record; a reader that is gone is not noticed, as in the real program.
 */
import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import type { Flags } from './command-line.ts'
import type { JsonRecord } from './records.ts'

export interface Sink {
  readonly emit: (record: JsonRecord) => void
  /** The bytes of a record as `emit` would write them, for writers that cut them. */
  readonly render: (record: JsonRecord) => string
  readonly raw: (bytes: string | Uint8Array, to: 'stdout' | 'stderr') => void
  /** Writes what the format holds back until the end. Once. */
  readonly finish: () => void
  /** Called after each record of the stream-json format. */
  readonly onActivity: (listener: () => void) => void
  readonly streams: boolean
}

export interface SinkFacts {
  readonly flags: Pick<Flags, 'outputFormat' | 'verbose' | 'maxTurns' | 'maxBudgetUsd'>
  readonly sessionId: string
  readonly stdout: Writable
  readonly stderr: Writable
}

export function createSink(facts: SinkFacts): Sink {
  const { flags, sessionId, stdout, stderr } = facts
  const streams = flags.outputFormat === 'stream-json'
  const held: JsonRecord[] = []
  let finished = false
  let activity = (): void => undefined
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)

  const complete = (record: JsonRecord): JsonRecord => {
    if (record['type'] === 'control_request') return record
    return { ...record, session_id: record['session_id'] ?? sessionId, uuid: record['uuid'] ?? randomUUID() }
  }
  return {
    streams,
    render: record => `${JSON.stringify(complete(record))}\n`,
    emit: record => {
      if (!streams) {
        held.push(complete(record))
        return
      }
      stdout.write(`${JSON.stringify(complete(record))}\n`)
      activity()
    },
    raw: (bytes, to) => {
      (to === 'stdout' ? stdout : stderr).write(bytes)
    },
    finish: () => {
      if (finished || streams) return
      finished = true
      const text = heldBack(held, flags)
      if (text !== '') stdout.write(text)
    },
    onActivity: listener => {
      activity = listener
    },
  }
}

function heldBack(records: readonly JsonRecord[], flags: SinkFacts['flags']): string {
  const last = records.findLast(record => record['type'] === 'result')
  if (last === undefined) return ''
  if (flags.outputFormat === 'text') return `${resultText(last, flags)}\n`
  return `${JSON.stringify(flags.verbose ? records.filter(record => record['type'] !== 'stream_event') : last)}\n`
}

function resultText(result: JsonRecord, flags: SinkFacts['flags']): string {
  switch (result['subtype']) {
    case 'error_max_turns':
      return `Error: Reached max turns (${flags.maxTurns ?? 0})`
    case 'error_max_budget_usd':
      return `Error: Exceeded USD budget (${flags.maxBudgetUsd ?? 0})`
    case 'error_during_execution':
      return 'Execution error'
    default:
      return typeof result['result'] === 'string' ? result['result'] : ''
  }
}
