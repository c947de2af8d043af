/**
 * Where journal bytes go: a file that stays open from start to end (F26), or memory for runs without persistence.
 * Owns partial writes and cutting back. Does not own lines, order or when to sync.
 */
import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'

export interface JournalSink {
  /** Bytes that were written and not cut off again. */
  readonly size: number
  /** Writes all bytes at the end or throws; bytes of a failed write may be left behind the old size. */
  readonly write: (bytes: Uint8Array) => void
  readonly sync: () => Promise<void>
  /** Cuts off everything behind `size`. */
  readonly cutBack: (size: number) => void
  readonly close: () => void
}

const fdatasyncAsync = promisify(fdatasync)

/** @param create true: the file must not exist; false: it must. A symbolic link at `path` is refused either way. */
export function openFileSink(path: string, create: boolean): JournalSink {
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants
  const fd = openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW | (create ? O_CREAT | O_EXCL : 0), 0o600)
  let size = fstatSync(fd).size
  return {
    get size() {
      return size
    },
    write: (bytes) => {
      let done = 0
      while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done)
      size += bytes.length
    },
    sync: () => fdatasyncAsync(fd),
    cutBack: (to) => {
      ftruncateSync(fd, to)
      size = to
    },
    close: () => closeSync(fd),
  }
}

export interface MemorySink extends JournalSink {
  readonly bytes: () => Buffer
}

export function memorySink(): MemorySink {
  let chunks: Uint8Array[] = []
  let size = 0
  const bytes = (): Buffer => Buffer.concat(chunks)
  return {
    get size() {
      return size
    },
    write: (added) => {
      chunks.push(added)
      size += added.length
    },
    sync: () => Promise.resolve(),
    cutBack: (to) => {
      chunks = [bytes().subarray(0, to)]
      size = to
    },
    close: () => {},
    bytes,
  }
}
