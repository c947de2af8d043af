/**
 * Follows the output files of live launches: one loop for all of them, one look every 200 ms (SEMANTICS 7).
 * Owns reading and timing. What the bytes mean, and when a launch is over, is decided by its owner.
 */
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { isCode } from './launch-files.ts'

export const TAIL_INTERVAL_MS = 200
const READ_BYTES = 256 * 1024

/** One file read from its start as it grows. Calls must not overlap. */
export class FollowedFile {
  readonly #path: string
  #file: FileHandle | null = null
  #offset = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Delivers what is new, in order. A file that is not there yet has nothing new. */
  async readNew(deliver: (bytes: Uint8Array) => void): Promise<void> {
    this.#file ??= await openIfThere(this.#path)
    if (this.#file === null || (await this.#file.stat()).size <= this.#offset) return
    const buffer = new Uint8Array(READ_BYTES)
    for (;;) {
      const { bytesRead } = await this.#file.read(buffer, 0, READ_BYTES, this.#offset)
      if (bytesRead === 0) return
      this.#offset += bytesRead
      deliver(buffer.slice(0, bytesRead))
    }
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }
}

/** Calls every member, waits, sleeps, starts again; stands still while there are none. */
export class TailLoop {
  readonly #members = new Set<() => Promise<void>>()
  readonly #intervalMs: number
  #running = false

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** @param look must not reject. @returns ends the membership. */
  add(look: () => Promise<void>): () => void {
    this.#members.add(look)
    if (!this.#running) this.#next()
    return () => { this.#members.delete(look) }
  }

  async #round(): Promise<void> {
    await Promise.all([...this.#members].map(look => look()))
    this.#next()
  }

  #next(): void {
    this.#running = this.#members.size > 0
    if (this.#running) setTimeout(() => { void this.#round() }, this.#intervalMs)
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null
    throw error
  }
}
