/**
 * Ends the whole tree of a launch (DESIGN 5.6): snapshot, SIGINT, SIGTERM, SIGKILL with a refreshed snapshot.
 * SIGINT comes first because it is the only signal that makes OpenClaude end its own Bash tools. What escaped the tree is for `../keeper/sweep.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import { isAlive, isStopped, signalProcess } from './identity.ts'
import { HAS_PROC } from './process-table.ts'
import type { LaunchTree } from './process-tree.ts'

const POLL_MS = 20
/** SIGKILL works at once but for a process in an uninterruptible call; one that outlives this is reported by the sweep. */
const AFTER_KILL_MS = 5000

/**
 * @param graceMs time between the first signal and SIGKILL; half of it passes before SIGTERM. 0 = SIGKILL at once.
 * @param hurry aborting it goes on to SIGKILL without further waiting.
 */
export async function climbKillLadder(tree: LaunchTree, graceMs: number, hurry: AbortSignal): Promise<void> {
  const { child } = tree
  tree.refresh()
  if (graceMs > 0 && !hurry.aborted) {
    if (isStopped(child)) {
      await terminate(child, graceMs, hurry)
    } else {
      signalProcess(child, 'SIGINT')
      await waitGone([child], graceMs / 2, hurry)
      if (!hurry.aborted) await terminate(child, graceMs / 2, hurry)
    }
  }
  await killTree(tree)
}

/** A stopped process keeps SIGTERM pending for ever: it must be continued to act on it (F13). */
async function terminate(child: ProcessIdentity, graceMs: number, hurry: AbortSignal): Promise<void> {
  const stopped = isStopped(child)
  signalProcess(child, 'SIGTERM')
  if (stopped) signalProcess(child, 'SIGCONT')
  await waitGone([child], graceMs, hurry)
}

async function killTree(tree: LaunchTree): Promise<void> {
  if (!HAS_PROC && isAlive(tree.child)) {
    const { default: treeKill } = await import('tree-kill')
    await new Promise<void>((resolve) => { treeKill(tree.child.pid, 'SIGKILL', () => resolve()) })
  }
  const deadline = performance.now() + AFTER_KILL_MS
  for (;;) {
    const left = [tree.child, ...tree.refresh()].filter(isAlive)
    if (left.length === 0 || performance.now() > deadline) return
    for (const process of left) signalProcess(process, 'SIGKILL')
    await waitGone(left, 10 * POLL_MS)
  }
}

/** Resolves when all are gone, after `ms`, or when `hurry` is aborted. @returns whether all are gone. */
export async function waitGone(processes: readonly ProcessIdentity[], ms: number, hurry?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + ms
  for (;;) {
    if (!processes.some(isAlive)) return true
    if (hurry?.aborted === true || performance.now() >= deadline) return false
    await sleep(POLL_MS)
  }
}
