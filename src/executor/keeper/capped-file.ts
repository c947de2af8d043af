/**
 * Pumps one output pipe of a child into one file, with back-pressure and a cap. The child never holds the file itself.
 * Beyond the cap the pipe is still drained, so that the child is not blocked while it is being ended.
 */
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isErrno } from '../../errno.ts'

const NO_SPACE_WAIT_MS = 500
/** Ten minutes: whoever frees the disk gets that long, then the launch goes without its evidence. */
const NO_SPACE_TRIES = 1200

export interface PumpOptions {
  /** Open for appending; closed at the end. */
  readonly file: FileHandle
  /** Bytes from the start that are kept. */
  readonly maxBytes: number
  /** Bytes from the end that are kept too, behind a line that says how much is missing. */
  readonly tailBytes: number
  /** Called once, when the first byte beyond the cap comes. */
  readonly onOverflow: () => void
}

export interface Pump {
  /** Resolves when the pipe has ended or was given up, with everything on disk. Rejects on a write error other than a full disk, which is waited out. */
  readonly done: Promise<void>
  /** Everything that came is written, and nothing more has come. */
  readonly isIdle: () => boolean
  /** Ends the pump though somebody still holds the pipe. */
  readonly giveUp: () => void
}

/**
 * Must be called in the turn of the spawn: when a child exits, Node throws away what nobody has begun to read.
 * Reading begins before this returns.
 */
export function startPump(pipe: Readable, { file, maxBytes, tailBytes, onOverflow }: PumpOptions): Pump {
  let idle = true
  const run = async (): Promise<void> => {
    const tail = new Tail(tailBytes)
    let room = maxBytes
    try {
      for await (const chunk of chunksOf(pipe)) {
        idle = false
        const kept = chunk.subarray(0, room)
        if (kept.length > 0) await writeAll(file, kept)
        if (kept.length < chunk.length) {
          if (tail.total === 0) onOverflow()
          tail.push(chunk.subarray(kept.length))
        }
        room -= kept.length
        idle = true
      }
      const missing = tail.total - tail.kept.length
      if (tailBytes > 0 && missing > 0) await writeAll(file, Buffer.from(`\n[${missing} bytes left out]\n`))
      await writeAll(file, tail.kept)
      await file.datasync()
    } finally {
      await file.close()
    }
  }
  return { done: run(), isIdle: () => idle, giveUp: () => { pipe.destroy() } }
}

/** Ends quietly where the pipe was given up. */
async function* chunksOf(pipe: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of pipe) yield chunk as Buffer
  } catch (error) {
    if (!isErrno(error, 'ERR_STREAM_PREMATURE_CLOSE') && !isErrno(error, 'ECONNRESET')) throw error
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    offset += (await waitForSpace(() => file.write(bytes, offset))).bytesWritten
  }
}

/** Repeats `write` while the disk is full. */
export async function waitForSpace<T>(write: () => T | Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      const full = isErrno(error, 'ENOSPC') || isErrno(error, 'EDQUOT')
      if (!full || tries === NO_SPACE_TRIES) throw error
      await sleep(NO_SPACE_WAIT_MS)
    }
  }
}

/** The last bytes of what did not fit. */
class Tail {
  readonly #max: number
  kept: Buffer = Buffer.alloc(0)
  total = 0

  constructor(max: number) {
    this.#max = max
  }

  push(bytes: Buffer): void {
    this.total += bytes.length
    if (this.#max === 0) return
    const joined = Buffer.concat([this.kept, bytes.subarray(-this.#max)])
    this.kept = Buffer.from(joined.subarray(-this.#max))
  }
}
