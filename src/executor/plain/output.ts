/**
 * The output of a plain child: a log file with head and tail under a byte cap, and a short tail in memory.
 * Memory stays below the caps however much the child prints. Text is passed through `redact` before it is written or returned.
 * Owns the log file (0600). Knows nothing of processes.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

export interface OutputCaps {
  /** Absolute; null = no log. An existing file is replaced. */
  readonly logFile: string | null
  /** Bytes of output that the log keeps: half from the start, half from the end. */
  readonly maxBytes: number
  /** Bytes of the end of the output that `finish` returns. */
  readonly tailBytes: number
  readonly redact: (text: string) => string
}

export interface CapturedOutput {
  /** Last `tailBytes` of both streams in order of arrival. */
  readonly tail: string
  /** Bytes the child printed, kept or not. */
  readonly bytes: number
  /** Why the log is missing or incomplete; null = it is whole. */
  readonly logError: string | null
}

/** A line longer than this is redacted in pieces. */
const MAX_HELD = 65_536
/** Room before the returned tail, so that a secret cut by its start is still recognised. */
const TAIL_SLACK = 4096

export class PlainOutput {
  readonly #caps: OutputCaps
  #log: number | null = null
  #logError: string | null = null
  readonly #decoder = new StringDecoder('utf8')
  readonly #logEnd: ByteRing
  readonly #tail: ByteRing
  #headLeft: number
  #held = ''
  #bytes = 0

  constructor(caps: OutputCaps) {
    this.#caps = caps
    const { logFile } = caps
    if (logFile !== null) this.#guard(() => (this.#log = openSync(logFile, 'w', 0o600)))
    this.#headLeft = this.#log === null ? 0 : Math.ceil(caps.maxBytes / 2)
    this.#logEnd = new ByteRing(this.#log === null ? 0 : Math.floor(caps.maxBytes / 2))
    this.#tail = new ByteRing(caps.tailBytes + TAIL_SLACK)
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    this.#tail.add(chunk)
    const head = chunk.subarray(0, this.#headLeft)
    this.#headLeft -= head.length
    if (head.length > 0) this.#writeLines(this.#decoder.write(head))
    if (head.length < chunk.length) this.#logEnd.add(chunk.subarray(head.length))
  }

  /** Writes what is still held, closes the log. Call once. */
  finish(): CapturedOutput {
    if (this.#log !== null) {
      this.#write(this.#held + this.#decoder.end())
      const end = this.#logEnd.take()
      if (end.dropped > 0) this.#write(`\n[${end.dropped} bytes left out]\n`)
      this.#write(end.bytes.toString('utf8'))
    }
    if (this.#log !== null) closeSync(this.#log)
    const text = this.#caps.redact(this.#tail.take().bytes.toString('utf8'))
    return { tail: lastBytes(text, this.#caps.tailBytes), bytes: this.#bytes, logError: this.#logError }
  }

  #writeLines(text: string): void {
    const all = this.#held + text
    const cut = all.length > MAX_HELD ? all.length : all.lastIndexOf('\n') + 1
    this.#held = all.slice(cut)
    this.#write(all.slice(0, cut))
  }

  #write(text: string): void {
    const log = this.#log
    if (log !== null && text !== '' && this.#logError === null) this.#guard(() => writeSync(log, this.#caps.redact(text)))
  }

  /** A log that can't be written must not take the run with it: the first error is kept and told. */
  #guard(action: () => void): void {
    try {
      action()
    } catch (error) {
      this.#logError ??= error instanceof Error ? error.message : String(error)
    }
  }
}

/** Keeps the last `size` bytes of what was added. */
class ByteRing {
  readonly #size: number
  #chunks: Uint8Array[] = []
  #held = 0
  #dropped = 0

  constructor(size: number) {
    this.#size = size
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(Uint8Array.from(chunk))
    this.#held += chunk.length
    // Whole chunks go first; the rest is cut when it is taken. Small chunks are joined so that their number stays bounded.
    while (this.#chunks[0] !== undefined && this.#held - this.#chunks[0].length >= this.#size) {
      this.#held -= this.#chunks[0].length
      this.#dropped += this.#chunks[0].length
      this.#chunks.shift()
    }
    if (this.#chunks.length > 1024) this.#chunks = [Buffer.concat(this.#chunks)]
  }

  take(): { readonly bytes: Buffer, readonly dropped: number } {
    const all = Buffer.concat(this.#chunks)
    const bytes = this.#size === 0 ? Buffer.alloc(0) : all.subarray(-this.#size)
    return { bytes, dropped: this.#dropped + all.length - bytes.length }
  }
}

/** The last `max` bytes of `text`, cut on a character. */
function lastBytes(text: string, max: number): string {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= max) return text
  let start = bytes.length - max
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xC0) === 0x80) start += 1
  return bytes.subarray(start).toString('utf8')
}
