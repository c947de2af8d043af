/**
 * Which processes belong to a launch: descendants by parent id, holders of its marker, and processes standing in its workspace.
 * Reads only. Processes are remembered by identity, so that one that was re-parented is still known as ours.
 */
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import { identityOf, isAlive, sameProcess } from './identity.ts'
import type { ProcessRow } from './process-table.ts'
import { isDead, listProcesses, readEnviron } from './process-table.ts'

export interface Marker {
  readonly name: string
  readonly value: string
}

/** All living processes below `roots`, without the roots. */
export function descendantsOf(roots: ReadonlySet<number>, table: readonly ProcessRow[]): readonly ProcessRow[] {
  const children = new Map<number, ProcessRow[]>()
  for (const row of table) {
    const siblings = children.get(row.ppid)
    if (siblings === undefined) children.set(row.ppid, [row])
    else siblings.push(row)
  }
  const found: ProcessRow[] = []
  const seen = new Set(roots)
  const open = [...roots]
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    for (const row of children.get(pid) ?? []) {
      if (seen.has(row.pid)) continue
      seen.add(row.pid)
      open.push(row.pid)
      if (!isDead(row)) found.push(row)
    }
  }
  return found
}

/** `own`: carries this launch's value. `other`: carries the value of another launch. `none`: carries no marker. `unknown`: not readable. */
export function markerOf(pid: number, marker: Marker): 'own' | 'other' | 'none' | 'unknown' {
  const environ = readEnviron(pid)
  if (environ === null || environ.length === 0) return 'unknown'
  const text = `\0${environ.toString('latin1')}\0`
  if (text.includes(`\0${marker.name}=${Buffer.from(marker.value).toString('latin1')}\0`)) return 'own'
  return text.includes(`\0${marker.name}=`) ? 'other' : 'none'
}

/** The child of a launch and every descendant that was ever seen of it. */
export class LaunchTree {
  readonly child: ProcessIdentity
  #members: readonly ProcessIdentity[] = []

  constructor(child: ProcessIdentity) {
    this.child = child
  }

  /** Takes a snapshot. @returns living descendants, re-parented ones included; the child itself is not among them. */
  refresh(table: readonly ProcessRow[] = listProcesses()): readonly ProcessIdentity[] {
    const remembered = this.#members.filter(isAlive)
    const roots = new Set(remembered.map(member => member.pid))
    const child = table.find(row => row.pid === this.child.pid)
    if (child !== undefined && sameProcess(identityOf(child), this.child)) roots.add(child.pid)
    this.#members = [...remembered, ...descendantsOf(roots, table).map(identityOf)]
    return this.#members
  }

  /** Clock ticks used by the tree so far. */
  cpuTicks(): number {
    const table = listProcesses()
    const members = new Set([this.child.pid, ...this.refresh(table).map(member => member.pid)])
    return table.reduce((sum, row) => members.has(row.pid) ? sum + row.cpuTicks : sum, 0)
  }
}
