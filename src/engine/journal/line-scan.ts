/** Streams the lines of a file as bytes, in bounded memory and without recursion. Does not decode. */
import { open } from 'node:fs/promises'

const CHUNK_BYTES = 1 << 20
const NEWLINE = 0x0a

/** No entry comes near this: big things are files. A longer line is damage, and is not kept in memory. */
export const MAX_LINE_BYTES = 64 << 20

export interface ScannedTail {
  /** Offset behind the last newline. */
  readonly end: number
  /** Bytes behind it. */
  readonly rest: number
}

/**
 * @param onLine gets the bytes without the newline, valid only during the call, and the offset of the line.
 * `null` bytes = the line is longer than `MAX_LINE_BYTES`. Rejects with what it throws.
 */
export async function scanLines(path: string, onLine: (line: Buffer | null, offset: number) => void): Promise<ScannedTail> {
  const handle = await open(path, 'r')
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let carried: Buffer[] = []
    let carriedBytes = 0
    let position = 0
    let lineStart = 0
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position)
      if (bytesRead === 0) return { end: lineStart, rest: position - lineStart }
      let from = 0
      for (;;) {
        const newline = chunk.indexOf(NEWLINE, from)
        if (newline === -1 || newline >= bytesRead) break
        const piece = chunk.subarray(from, newline)
        const length = position + newline - lineStart
        onLine(length > MAX_LINE_BYTES ? null : carriedBytes === 0 ? piece : Buffer.concat([...carried, piece]), lineStart)
        carried = []
        carriedBytes = 0
        from = newline + 1
        lineStart = position + from
      }
      if (from < bytesRead && carriedBytes <= MAX_LINE_BYTES) {
        carried.push(Buffer.from(chunk.subarray(from, bytesRead)))
        carriedBytes += bytesRead - from
      }
      position += bytesRead
    }
  } finally {
    await handle.close()
  }
}
