/**
 * Content of a work tree at one moment. Contents are hashed once and remembered by (size, mtime, ctime, inode, mode), so that an
 * unchanged tree costs one stat per file. Links count by their target text and are never followed; the executable bit counts.
 */
import { createHash } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { detectTreeMode, listByGit, listByWalk, type ListedPath, type TreeMode } from './list-files.ts'
import type { TreeSnapshot } from './workspace.ts'

const CONCURRENCY = 16
/** A file whose inode changed this recently may change again within the same time stamp; its hash is not remembered. */
const RACY_WINDOW_NS = 200_000_000n
const MAX_BUFFER_BYTES = 256 * 1024

interface KnownContent {
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly ino: bigint
  readonly mode: bigint
  readonly hash: string
}

export interface TreeSnapshotter {
  readonly snapshot: () => Promise<TreeSnapshot>
}

/**
 * `root` is an absolute real path. Whether git or the own walk lists the files is decided at the first snapshot and kept,
 * so that two snapshots are comparable; only a repository that disappears moves it to the walk.
 */
export function createTreeSnapshotter(root: string): TreeSnapshotter {
  let mode: TreeMode | null = null
  let known: ReadonlyMap<string, KnownContent> = new Map()

  const list = async (): Promise<readonly ListedPath[]> => {
    mode ??= await detectTreeMode(root)
    if (mode === 'git') {
      const listed = await listByGit(root)
      if (listed !== null) return listed
      mode = 'walk'
    }
    return listByWalk(root)
  }

  return {
    snapshot: async () => {
      const listed = await list()
      const reading = new TreeReading(root, known)
      await eachBounded(listed, entry => reading.add(entry))
      known = reading.next
      return toSnapshot(reading.hashes)
    },
  }
}

/** Sorts, so that the order of reading does not matter. */
export function toSnapshot(hashes: ReadonlyMap<string, string>): TreeSnapshot {
  const files = new Map([...hashes].toSorted(([a], [b]) => a < b ? -1 : 1))
  const hash = createHash('sha256')
  for (const [name, content] of files) hash.update(`${name}\0${content}\0`)
  return { fingerprint: hash.digest('hex'), files }
}

/** One pass over the tree. */
class TreeReading {
  readonly hashes = new Map<string, string>()
  readonly next = new Map<string, KnownContent>()
  readonly #root: string
  readonly #known: ReadonlyMap<string, KnownContent>
  readonly #folders = new Map<string, Promise<boolean>>([['.', Promise.resolve(true)]])

  constructor(root: string, known: ReadonlyMap<string, KnownContent>) {
    this.#root = root
    this.#known = known
  }

  async add(entry: ListedPath): Promise<void> {
    const path = absolute(this.#root, entry.path)
    const stats = await statOf(path)
    if (stats === null || !await this.#isRealFolder(parentOf(entry.name))) return
    if (stats.isSymbolicLink()) this.hashes.set(entry.name, `120000:${sha256(await readlink(path, 'buffer'))}`)
    else if (stats.isFile()) this.hashes.set(entry.name, await this.#contentOf(entry.name, path, stats))
    // A submodule is listed as its folder; its files stand for it.
    else if (stats.isDirectory() && typeof entry.path === 'string') {
      for (const inner of await listByWalk(this.#root, entry.path)) await this.add(inner)
    }
  }

  async #contentOf(name: string, path: string | Buffer, stats: BigIntStats): Promise<string> {
    const seen = this.#known.get(name)
    if (seen !== undefined && isSame(seen, stats)) {
      this.next.set(name, seen)
      return seen.hash
    }
    const startedNs = BigInt(Date.now()) * 1_000_000n
    const hash = `${(stats.mode & 0o111n) === 0n ? '100644' : '100755'}:${await contentHash(path, Number(stats.size))}`
    const { size, mtimeNs, ctimeNs, ino, mode } = stats
    if (startedNs - ctimeNs > RACY_WINDOW_NS) this.next.set(name, { size, mtimeNs, ctimeNs, ino, mode, hash })
    return hash
  }

  /** False below a symbolic link: git still lists tracked files there, but they are not in this tree. */
  #isRealFolder(folder: string): Promise<boolean> {
    const asked = this.#folders.get(folder)
    if (asked !== undefined) return asked
    const answer = this.#isRealFolder(parentOf(folder))
      .then(async real => real && (await statOf(join(this.#root, folder)))?.isSymbolicLink() !== true)
    this.#folders.set(folder, answer)
    return answer
  }
}

function parentOf(name: string): string {
  const slash = name.lastIndexOf('/')
  return slash < 0 ? '.' : name.slice(0, slash)
}

function isSame(seen: KnownContent, stats: BigIntStats): boolean {
  return seen.size === stats.size && seen.mtimeNs === stats.mtimeNs && seen.ctimeNs === stats.ctimeNs
    && seen.ino === stats.ino && seen.mode === stats.mode
}

function absolute(root: string, path: string | Buffer): string | Buffer {
  return typeof path === 'string' ? join(root, path) : Buffer.concat([Buffer.from(`${root}/`), path])
}

async function statOf(path: string | Buffer): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true })
  } catch {
    // Tracked but deleted, or gone since it was listed: absent from the snapshot.
    return null
  }
}

/** A file that can't be read has a content of its own kind, so that becoming readable is a change. */
async function contentHash(path: string | Buffer, size: number): Promise<string> {
  const hash = createHash('sha256')
  try {
    // Non-blocking: a pipe put in the place of the file since its stat must not hang the reader.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const buffer = Buffer.allocUnsafe(Math.min(MAX_BUFFER_BYTES, size + 1))
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length)
        if (bytesRead === 0) return hash.digest('hex')
        hash.update(buffer.subarray(0, bytesRead))
      }
    } finally {
      await handle.close()
    }
  } catch {
    return 'unreadable'
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function eachBounded<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    for (const item of queue) await work(item)
  }))
}
