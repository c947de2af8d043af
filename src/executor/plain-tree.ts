/**
 * Ends the process tree of a plain child: the members known by descent, process group and session, and whatever carries its marker.
 * Linux reads /proc; elsewhere the group is signalled and tree-kill walks by parent id.
 */
import { readdirSync, readFileSync } from 'node:fs'
import treeKill from 'tree-kill'
import { isErrno } from './errno.ts'

export interface TreeRoot {
  readonly pid: number
  readonly marker: { readonly name: string, readonly value: string }
}

interface ProcessFacts {
  readonly pid: number
  readonly ppid: number
  readonly pgrp: number
  readonly session: number
  readonly zombie: boolean
}

const hasProc = process.platform === 'linux'

/** Living processes of the tree, the root included while it lives. */
export function treeMembers(root: TreeRoot): number[] {
  const all = readProcesses()
  const members = new Set<number>()
  for (const one of all) {
    if (one.pid === root.pid || one.pgrp === root.pid || one.session === root.pid || carriesMarker(one.pid, root.marker)) members.add(one.pid)
  }
  for (let grown = true; grown;) {
    grown = false
    for (const one of all) {
      if (!members.has(one.pid) && members.has(one.ppid)) {
        members.add(one.pid)
        grown = true
      }
    }
  }
  members.delete(process.pid)
  return all.filter(one => members.has(one.pid) && !one.zombie).map(one => one.pid)
}

/** Sends `signal` to every member. A process that is already gone is no error. */
export function signalTree(root: TreeRoot, signal: NodeJS.Signals): number {
  if (!hasProc) {
    treeKill(root.pid, signal)
    return 0
  }
  const members = treeMembers(root)
  for (const pid of members) signalProcess(pid, signal)
  return members.length
}

/** SIGKILL in rounds until nothing of the tree is left. `left` > 0: something can't be ended. */
export async function sweepTree(root: TreeRoot): Promise<{ readonly ended: number, readonly left: number }> {
  if (!hasProc) return { ended: signalTree(root, 'SIGKILL'), left: 0 }
  const ended = new Set<number>()
  for (let round = 0; round < 40; round += 1) {
    const members = treeMembers(root)
    if (members.length === 0) return { ended: ended.size, left: 0 }
    for (const pid of members) {
      ended.add(pid)
      signalProcess(pid, 'SIGKILL')
    }
    await new Promise(resolve => setTimeout(resolve, 5 + round * 5))
  }
  return { ended: ended.size, left: treeMembers(root).length }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // ESRCH: ended in between. EPERM: not ours to end; the sweep reports it as left.
    if (!isErrno(error, 'ESRCH') && !isErrno(error, 'EPERM')) throw error
  }
}

function readProcesses(): ProcessFacts[] {
  const found: ProcessFacts[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readOrNull(`/proc/${name}/stat`)
    if (stat === null) continue
    // The command name is in parentheses and may hold anything; the fields start after the last one.
    const [state, ppid, pgrp, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    found.push({ pid: Number(name), ppid: Number(ppid), pgrp: Number(pgrp), session: Number(session), zombie: state === 'Z' || state === 'X' })
  }
  return found
}

function carriesMarker(pid: number, marker: TreeRoot['marker']): boolean {
  const environment = readOrNull(`/proc/${pid}/environ`)
  return environment !== null && environment.split('\0').includes(`${marker.name}=${marker.value}`)
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH') || isErrno(error, 'EACCES') || isErrno(error, 'EPERM')) return null
    throw error
  }
}
