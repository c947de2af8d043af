/**
 * Redacts a byte stream whose secrets may be split over chunks, for log files. Text leaves line by line; a line without end leaves in
 * parts, and no part ends inside a secret. Owns decoding and holding back; `redact.ts` owns what is secret.
 */
import { StringDecoder } from 'node:string_decoder'
import type { Redactor } from './redact.ts'

export interface RedactingStream {
  /** Text that is safe to write now; may be empty. */
  readonly push: (chunk: Uint8Array | string) => string
  /** The rest, after the last chunk. */
  readonly end: () => string
}

/** A line, or an open secret, longer than this is let go in parts: memory stays bounded. */
const MAX_HELD = 64 << 10
/** What stays behind of an over-long line; longer than any token. */
const OVERLAP = 8 << 10

export function createRedactingStream(redactor: Redactor): RedactingStream {
  const decoder = new StringDecoder('utf8')
  const overlap = Math.max(OVERLAP, redactor.multilineLength)
  let held = ''
  return {
    push: (chunk) => {
      held += typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      const cut = cutFor(held, redactor, overlap)
      const ready = held.slice(0, cut)
      held = held.slice(cut)
      return ready === '' ? '' : redactor.redact(ready)
    },
    end: () => {
      const rest = held + decoder.end()
      held = ''
      return redactor.redact(rest)
    },
  }
}

/** How much of `text` can go: whole lines, less what a secret with line breaks may still need, and never into the middle of a secret. */
function cutFor(text: string, redactor: Redactor, overlap: number): number {
  const lines = text.lastIndexOf('\n', text.length - 1 - Math.max(0, redactor.multilineLength - 1)) + 1
  const cut = text.length > MAX_HELD + overlap ? Math.max(lines, text.length - overlap) : lines
  if (cut === 0) return 0
  const open = redactor.matches(text).find(({ start, end }) => start < cut && (end > cut || (end === text.length && text.length <= MAX_HELD)))
  return open?.start ?? cut
}
