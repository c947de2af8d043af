/**
 * Who a process is, beyond its pid: boot id + PID namespace + pid + start ticks (SEMANTICS 7). A zombie is gone.
 * Every signal of this folder goes through `signalProcess`, which checks the identity first; nothing is signalled on a pid alone.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import { HAS_PROC, isDead, readProcess } from './process-table.ts'

/** Where pids have a meaning. */
export interface Origin {
  readonly bootId: string
  readonly pidNs: string
  readonly host: string
}

let cached: Origin | undefined

export function ownOrigin(): Origin {
  cached ??= HAS_PROC
    ? {
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      pidNs: readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''),
      host: hostname(),
    }
    : { bootId: spawnSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).stdout?.trim() ?? '', pidNs: '', host: hostname() }
  return cached
}

/**
 * `foreign`: another host, or another PID namespace of this one; its pids say nothing here.
 * `past`: this host before its last boot; every process of then is gone.
 */
export function compareOrigin(origin: Origin): 'same' | 'past' | 'foreign' {
  const own = ownOrigin()
  if (origin.bootId !== own.bootId) return origin.host === own.host ? 'past' : 'foreign'
  return origin.pidNs === own.pidNs ? 'same' : 'foreign'
}

/** Identity of a process that exists; null when it is gone. `zombies` also names one that has ended but was not waited for. */
export function identify(pid: number, zombies: 'zombies' | 'living' = 'living'): ProcessIdentity | null {
  const row = readProcess(pid)
  if (row === null || (zombies === 'living' && isDead(row))) return null
  return identityOf(row)
}

export function identityOf(row: { readonly pid: number, readonly startTicks: string }): ProcessIdentity {
  const { bootId, pidNs } = ownOrigin()
  return { bootId, pidNs, pid: row.pid, startTicks: row.startTicks }
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid)
  return now !== null && sameProcess(now, identity)
}

/** True while the process is stopped by a signal or a debugger. */
export function isStopped(identity: ProcessIdentity): boolean {
  const row = readProcess(identity.pid)
  return row !== null && row.startTicks === identity.startTicks && (row.state === 'T' || row.state === 't')
}

export function sameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startTicks === b.startTicks && a.bootId === b.bootId && a.pidNs === b.pidNs
}

/** @returns false when the process is gone, is somebody else by now, or may not be signalled. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false
  try {
    return process.kill(identity.pid, signal)
  } catch {
    // ESRCH: it ended after the check. EPERM: it changed its user; the sweep reports it as left.
    return false
  }
}
