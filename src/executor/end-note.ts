/**
 * A note in the launch directory of why we end a launch, written before the first signal. An engine that finds the launch after a crash then knows
 * that the death was ours, and by which clock, although nobody journalled it.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLOCKS, type EndReason } from '../core/attempt-types.ts'

const NAME = 'ending.json'

export function writeEndNote(dir: string, reason: EndReason): void {
  const temp = join(dir, `${NAME}.tmp`)
  writeFileSync(temp, `${JSON.stringify(reason)}\n`, { mode: 0o600 })
  renameSync(temp, join(dir, NAME))
}

/** Null when there is none, or none that can be read. */
export function readEndNote(dir: string): EndReason | null {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(join(dir, NAME), 'utf8'))
  } catch {
    // Usually ENOENT: nobody ended it. A damaged note tells as little.
    return null
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return null
  switch (value.kind) {
    case 'stop':
    case 'abort':
      return { kind: value.kind }
    case 'clock': {
      const clock = 'clock' in value ? CLOCKS.find(name => name === value.clock) : undefined
      return clock === undefined ? null : { kind: 'clock', clock }
    }
    default:
      return null
  }
}
