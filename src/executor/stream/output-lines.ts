/**
 * Frames bytes into lines. Pure; memory is bounded by the line cap. Any division of the same bytes into chunks frames the same lines.
 * Bytes that are no UTF-8 become U+FFFD, NUL stays; whether a line is a record is for `liveness.ts` to say.
 */
import type { FramedLine } from './child-record.ts'

const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const BRACE = 0x7b

const DEFAULT_MAX_LINE_BYTES = 8 * 1024 * 1024
const DEFAULT_HEAD_BYTES = 1024 * 1024

export interface FramerOptions {
  /** A line with more bytes than this, its end of line not counted, is `oversize`. */
  readonly maxLineBytes?: number
  /** How much of an oversize line is kept, cut at a character. */
  readonly headBytes?: number
  /** Passes over lines that can't be records (they begin with no `{`) where that costs nothing: a flood has 500 million of them. */
  readonly recordsOnly?: boolean
}

export class LineFramer {
  readonly #max: number
  readonly #head: number
  readonly #recordsOnly: boolean
  #parts: Uint8Array[] = []
  #kept = 0
  #total = 0
  #last = 0

  constructor({ maxLineBytes = DEFAULT_MAX_LINE_BYTES, headBytes = DEFAULT_HEAD_BYTES, recordsOnly = false }: FramerOptions = {}) {
    this.#recordsOnly = recordsOnly
    this.#max = maxLineBytes
    this.#head = Math.min(headBytes, maxLineBytes)
  }

  /** @returns the lines that this chunk completed. The chunk may be reused by the caller afterwards. */
  push(chunk: Uint8Array): readonly FramedLine[] {
    const lines: FramedLine[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.#recordsOnly || this.#total > 0 || end - start > this.#max || mayBeRecord(chunk[start])) {
        this.#take(chunk.subarray(start, end))
        lines.push(this.#finish())
      }
      start = end + 1
    }
    this.#take(chunk.subarray(start))
    return lines
  }

  /** The last line, when the stream ended without an end of line. */
  end(): readonly FramedLine[] {
    return this.#total === 0 ? [] : [this.#finish()]
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#total += bytes.length
    this.#last = bytes[bytes.length - 1] ?? 0
    const kept = bytes.slice(0, this.#max - this.#kept)
    if (kept.length > 0) this.#parts.push(kept)
    this.#kept += kept.length
    // One byte over the cap may still be the carriage return of the end of line.
    if (this.#total > this.#max + 1) this.#dropBeyondHead()
  }

  /** `#kept` stays at the cap, so that nothing more of this line is taken. */
  #dropBeyondHead(): void {
    if (this.#parts.length === 1 && this.#parts[0]?.length === this.#head) return
    this.#parts = [join(this.#parts).slice(0, this.#head)]
  }

  #finish(): FramedLine {
    const bytes = this.#total - (this.#total > 0 && this.#last === RETURN ? 1 : 0)
    const oversize = bytes > this.#max
    const whole = join(this.#parts)
    const text = oversize ? decode(cutAtCharacter(whole.subarray(0, this.#head))) : decode(whole.subarray(0, bytes))
    this.#parts = []
    this.#kept = 0
    this.#total = 0
    this.#last = 0
    return { text, oversize, bytes }
  }
}

/** White space, and what may be a byte order mark or a space beyond ASCII, can stand before a record. */
function mayBeRecord(first = NEWLINE): boolean {
  return first === BRACE || first >= 0x80 || (first <= SPACE && first !== NEWLINE)
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

/** Takes away an incomplete character at the end: at most three bytes. */
function cutAtCharacter(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes)
}
