/** Who a process is, beyond its pid (SEMANTICS 7): boot id, PID namespace, pid and start ticks from /proc. Empty strings where the platform has none. */
import { readFileSync, readlinkSync } from 'node:fs'
import type { ProcessIdentity } from '../core/attempt-types.ts'

/** Null when no such process exists, or it is a zombie. */
export function readIdentity(pid: number): ProcessIdentity | null {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === null) return isAlive(pid) ? { bootId: '', pidNs: '', pid, startTicks: '' } : null
  // The command name may hold spaces and brackets: fields count from its last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return null
  return { ...machineIdentity(), pid, startTicks: fields[19] ?? '' }
}

export function ownIdentity(): ProcessIdentity {
  return readIdentity(process.pid) ?? { ...machineIdentity(), pid: process.pid, startTicks: '' }
}

/** `foreign`: recorded in another PID namespace of this boot, so it can't be seen. A process of an earlier boot is gone. */
export function lookFor(identity: ProcessIdentity): 'alive' | 'gone' | 'foreign' {
  const here = machineIdentity()
  if (identity.bootId !== here.bootId) return 'gone'
  if (identity.pidNs !== here.pidNs) return 'foreign'
  return readIdentity(identity.pid)?.startTicks === identity.startTicks ? 'alive' : 'gone'
}

function machineIdentity(): { readonly bootId: string, readonly pidNs: string } {
  return { bootId: readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '', pidNs: readLink('/proc/self/ns/pid').replaceAll(/\D/g, '') }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function isAlive(pid: number): boolean {
  if (readText('/proc/self/stat') !== null) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
