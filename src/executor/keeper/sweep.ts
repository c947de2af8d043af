/**
 * Ends what a launch left behind (SEMANTICS 7): known descendants, holders of its marker, and processes inside its workspace that dropped the marker.
 * Never ends: ourselves and our ancestors, the keeper, holders of another launch's marker, and what a user started in the workspace.
 */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import { identityOf, isAlive, ownOrigin, sameProcess, signalProcess } from '../process/identity.ts'
import { tagOf } from '../process/inherited-tag.ts'
import { waitGone } from '../process/kill-ladder.ts'
import type { SweepResult } from './launch-types.ts'
import type { ProcessRow } from '../process/process-table.ts'
import { isDead, listProcesses, readCwd } from '../process/process-table.ts'
import type { Marker } from '../process/process-tree.ts'
import { descendantsOf, markerOf } from '../process/process-tree.ts'

const ROUNDS = 25
const ROUND_MS = 200

export interface SweepScope {
  readonly marker: Marker
  readonly workspaceRoot: string
  /** Null when no keeper ever made itself known: then only holders of the marker can exist. */
  readonly keeper: ProcessIdentity | null
  /** The value of `oom_score_adj` that the child was given; null when it could not be set. */
  readonly tag: number | null
  /** Descendants seen while the launch lived. */
  readonly known: readonly ProcessIdentity[]
}

export async function sweepLaunch(scope: SweepScope): Promise<SweepResult> {
  const ended = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const left = leftovers(scope)
    if (left.length === 0) return { result: 'clean', ended: ended.size }
    for (const process of left) {
      if (signalProcess(process, 'SIGKILL')) ended.add(`${process.pid}:${process.startTicks}`)
    }
    await waitGone(left, ROUND_MS)
  }
  return { result: 'tainted', ended: ended.size }
}

function leftovers(scope: SweepScope): readonly ProcessIdentity[] {
  const table = listProcesses().filter(row => !isDead(row))
  const spared = protectedPids(table, scope)
  const candidates = table.filter(row => !spared.has(row.pid))
  const known = scope.known.filter(isAlive)
  const isRoot = rootRule(scope, table)
  const roots = candidates.filter(row => known.some(process => sameProcess(process, identityOf(row))) || isRoot(row))
  const below = descendantsOf(new Set(roots.map(row => row.pid)), candidates).filter(row => markerOf(row.pid, scope.marker) !== 'other')
  return [...roots, ...below].map(identityOf)
}

/** Decides for one process whether it is a leftover by itself, not only by its parent. */
function rootRule({ marker, workspaceRoot, keeper, tag }: SweepScope, table: readonly ProcessRow[]): (row: ProcessRow) => boolean {
  const inside = insideOf(workspaceRoot)
  const { bootId, pidNs } = ownOrigin()
  const since = keeper !== null && keeper.bootId === bootId && keeper.pidNs === pidNs ? Number(keeper.startTicks) : Number.POSITIVE_INFINITY
  const living = new Set(table.map(row => row.pid))
  return (row) => {
    const mark = markerOf(row.pid, marker)
    // An environment that was cleared to nothing says as little as one that can't be read: the place decides then.
    if (mark === 'own' || mark === 'other') return mark === 'own'
    if (Number(row.startTicks) < since || !inside(readCwd(row.pid))) return false
    // Without the tag: a user's process has a terminal, or a parent other than init; 0 is a parent outside our PID namespace.
    const orphan = row.ppid === 1 || (row.ppid !== 0 && !living.has(row.ppid))
    return tag === null ? orphan && row.tty === 0 : tagOf(row.pid) === tag
  }
}

function protectedPids(table: readonly ProcessRow[], { keeper }: SweepScope): ReadonlySet<number> {
  const parents = new Map(table.map(row => [row.pid, row.ppid]))
  const spared = new Set<number>([1])
  for (let pid: number | undefined = process.pid; pid !== undefined && pid > 0 && !spared.has(pid); pid = parents.get(pid)) spared.add(pid)
  if (keeper !== null && isAlive(keeper)) spared.add(keeper.pid)
  return spared
}

function insideOf(root: string): (path: string | null) => boolean {
  const real = realPath(root)
  return path => path !== null && (path === real || path.startsWith(`${real}${sep}`))
}

/** The link of a working directory is resolved, so the root must be too. A root that is gone leaves links that end in ` (deleted)` and still start with it. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // ENOENT: the tree vanished; its written path is the best that is left.
    return path
  }
}
