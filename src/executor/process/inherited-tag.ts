/**
 * A mark that no process can drop by accident: `oom_score_adj`, a little above the keeper's own. Every process below the child inherits it, also one
 * that cleared its environment and left its session, while a shell that a user opens in the workspace has another value. The sweep tells them apart by it.
 * The rise is at most 97 of 1000, so the kernel's choice of victims hardly changes.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = 'oom_score_adj'
const VALUES = 97
const HIGHEST = 1000

/** Runs `spawn` so that what it starts carries the tag of `marker`. @returns its value, and the tag; null where it can't be set. */
export function withInheritedTag<T>(marker: string, spawn: () => T): { readonly value: T, readonly tag: number | null } {
  const own = tagOf(process.pid)
  const raised = own === null ? null : own + 1 + Buffer.from(marker).reduce((sum, byte) => (sum * 31 + byte) % VALUES, 0)
  const tag = raised !== null && raised <= HIGHEST && setOwn(raised) ? raised : null
  try {
    return { value: spawn(), tag }
  } finally {
    // Where the value may only be raised the keeper keeps the child's; the sweep spares the keeper by its identity.
    if (tag !== null && own !== null) setOwn(own)
  }
}

export function tagOf(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/${FILE}`, 'utf8'))
  } catch {
    // No /proc, or the process is gone.
    return null
  }
}

function setOwn(value: number): boolean {
  try {
    writeFileSync(`/proc/self/${FILE}`, String(value))
    return true
  } catch {
    // EACCES, EROFS: a sandbox forbids it, and the sweep goes by parent and terminal.
    return false
  }
}
