/**
 * A note in the launch directory of why we end a launch, written before the first signal. An engine that finds the launch after a crash then knows
 * that the death was ours, and by which clock, although nobody journalled it.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLOCKS, type EndReason } from '../../core/attempt-types.ts'
import { isObject } from '../stream/json-value.ts'

const NAME = 'ending.json'

export interface EndNote {
  readonly reason: EndReason
  /** Bytes of stdout read when it was written: a result after them was made by our signal. */
  readonly stdoutBytes: number
}

export function writeEndNote(dir: string, note: EndNote): void {
  const temp = join(dir, `${NAME}.tmp`)
  writeFileSync(temp, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  renameSync(temp, join(dir, NAME))
}

/** Null when there is none, or none that can be read. */
export function readEndNote(dir: string): EndNote | null {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(join(dir, NAME), 'utf8'))
  } catch {
    // Usually ENOENT: nobody ended it. A damaged note tells as little.
    return null
  }
  if (!isObject(value) || typeof value['stdoutBytes'] !== 'number') return null
  const reason = decodeReason(value['reason'])
  return reason === null ? null : { reason, stdoutBytes: value['stdoutBytes'] }
}

/** The reasons an engine has; those of the keeper are in its own record. */
function decodeReason(value: unknown): EndReason | null {
  if (!isObject(value)) return null
  switch (value['kind']) {
    case 'stop':
    case 'abort':
      return { kind: value['kind'] }
    case 'clock': {
      const clock = CLOCKS.find(name => name === value['clock'])
      return clock === undefined ? null : { kind: 'clock', clock }
    }
    default:
      return null
  }
}
