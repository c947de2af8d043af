/**
 * The process tree of a plain child: signals to all of it, and the sweep after its end. The same rules as for a launch, without a keeper.
 * Members: descendants that were ever seen, holders of the marker, orphans without a terminal whose cwd is inside the workspace.
 */
import treeKill from 'tree-kill'
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import { identify, identityOf, signalProcess } from '../process/identity.ts'
import type { SweepResult } from '../keeper/launch-types.ts'
import { HAS_PROC, isDead, listProcesses } from '../process/process-table.ts'
import { LaunchTree, markerOf, type Marker } from '../process/process-tree.ts'
import { sweepLaunch } from '../keeper/sweep.ts'

export class PlainTree {
  readonly #pid: number
  readonly #marker: Marker
  readonly #workspaceRoot: string
  /** Null when the child was gone before it could be looked at. */
  readonly #tree: LaunchTree | null

  /** Call right after the spawn, before the event loop turns: until then even a child that has ended still has its row. */
  constructor(pid: number, marker: Marker, workspaceRoot: string) {
    const child = identify(pid, 'zombies')
    this.#pid = pid
    this.#marker = marker
    this.#workspaceRoot = workspaceRoot
    this.#tree = child === null ? null : new LaunchTree(child)
  }

  signal(signal: NodeJS.Signals): void {
    if (!HAS_PROC) {
      treeKill(this.#pid, signal)
      return
    }
    for (const member of this.#members()) signalProcess(member, signal)
  }

  sweep(): Promise<SweepResult> {
    const child = this.#tree?.child ?? null
    return sweepLaunch({
      marker: this.#marker, workspaceRoot: this.#workspaceRoot, keeper: child, tag: null, known: this.#tree?.refresh() ?? [],
    })
  }

  #members(): readonly ProcessIdentity[] {
    const table = listProcesses()
    const holders = table.filter(row => !isDead(row) && row.pid !== process.pid && markerOf(row.pid, this.#marker) === 'own').map(identityOf)
    return this.#tree === null ? holders : [this.#tree.child, ...this.#tree.refresh(table), ...holders]
  }
}

/** Ends what a plain child of an earlier engine left running; its pid is not known any more, its marker is. */
export function sweepPlain(marker: Marker, workspaceRoot: string): Promise<SweepResult> {
  return sweepLaunch({ marker, workspaceRoot, keeper: null, tag: null, known: [] })
}
