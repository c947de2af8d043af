/**
 * What a keeper does from the spawn to the end of its child: records both, pumps the output, bounds the run time, settles.
 * Starting the child, and what comes before it, is for `keeper.ts`.
 */
import type { ChildProcess } from 'node:child_process'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { EndReason, ExitFact, ProcessIdentity } from '../../core/attempt-types.ts'
import type { Pump } from './capped-file.ts'
import { startPump, waitForSpace } from './capped-file.ts'
import { climbKillLadder } from '../process/kill-ladder.ts'
import type { LaunchFile } from './launch-files.ts'
import { LAUNCH_FILES, writeWhole } from './launch-files.ts'
import type { EndUrgency, LaunchRequest } from './launch-types.ts'
import { LaunchTree } from '../process/process-tree.ts'

const DRAIN_MS = 2000
const STDERR_HEAD_BYTES = 4 * 1024 * 1024
const STDERR_TAIL_BYTES = 64 * 1024
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** A child that has not ended this long after SIGKILL is in an uninterruptible call: it is left, its exit unknown. */
export const LOST_MS = 15_000

/** What reaches a keeper from outside; what it means depends on how far the launch is. */
export interface KeeperEvents {
  /** Asked to leave, or in trouble. */
  end: (reason: EndReason, urgency: EndUrgency) => void
  /** The pipe from the engine has ended. */
  engineGone: () => void
}

export interface KeptChild {
  readonly process: ChildProcess
  readonly launch: LaunchFile & { readonly child: ProcessIdentity }
  readonly output: { readonly stdout: FileHandle, readonly stderr: FileHandle }
  readonly startedAt: number
}

/**
 * Must be called in the turn of the spawn. Takes over `events`. Resolves when `exit.json` is written.
 * @param onLive called when the child's identity is on disk. @param note told of an error that costs the evidence.
 */
export async function keepChild(
  dir: string, request: LaunchRequest, { process: child, launch, output, startedAt }: KeptChild, events: KeeperEvents, onLive: () => void, note: (error: unknown) => void,
): Promise<void> {
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error('the child has no pipes')
  const { promise: exited, resolve: settle } = Promise.withResolvers<ExitFact>()
  let over = false
  child.once('exit', (code, signal) => {
    over = true
    settle({ known: true, code, signal })
  })
  let endedByKeeper: EndReason | null = null
  const hurry = new AbortController()
  events.end = (reason, urgency) => {
    if (urgency === 'now') hurry.abort()
    // The first reason wins, and after the exit only what its output shows still counts.
    if (endedByKeeper !== null || (over && reason.kind !== 'flooded')) return
    endedByKeeper = reason
    void climbKillLadder(new LaunchTree(launch.child), request.killGraceMs, hurry.signal).then(() => setTimeout(() => settle({ known: false }), LOST_MS))
  }
  events.engineGone = () => { if (request.onEngineDeath === 'end') events.end({ kind: 'stop' }, 'ladder') }
  // EPIPE: the child ended without reading its prompt; its exit tells the story (F21).
  stdin.on('error', () => undefined)
  const stderrBytes = Math.min(STDERR_HEAD_BYTES, request.maxStreamBytes)
  const pumps = [
    startPump(stdout, { file: output.stdout, maxBytes: request.maxStreamBytes, tailBytes: 0, onOverflow: () => events.end({ kind: 'flooded' }, 'ladder') }),
    startPump(stderr, { file: output.stderr, maxBytes: stderrBytes, tailBytes: STDERR_TAIL_BYTES, onOverflow: () => undefined }),
  ]
  const pumped = Promise.all(pumps.map(pump => pump.done)).catch((error: unknown) => {
    // The evidence can't be kept, so the work can't be judged.
    note(error)
    events.end({ kind: 'stop' }, 'now')
  })
  await waitForSpace(() => writeWhole(join(dir, LAUNCH_FILES.launch), launch, 'fast'))
  onLive()
  if (request.maxRuntimeMs > 0) {
    // The engine's watchdog acts first; the slack lets it finish its own ladder.
    setTimeout(() => events.end({ kind: 'keeper-bound' }, 'ladder'), Math.min(request.maxRuntimeMs + 2 * request.killGraceMs, LONGEST_TIMER_MS))
  }
  stdin.end(request.prompt)
  const exit = await exited
  const durationMs = Math.round(performance.now() - startedAt)
  await Promise.race([pumped, giveUpIdle(pumps)])
  await pumped
  await waitForSpace(() => writeWhole(join(dir, LAUNCH_FILES.exit), { v: 1, kind: 'exit', exit, endedByKeeper, durationMs }, 'durable'))
}

/** `close` may never come: a process left behind can hold the pipe for its whole life (F16). What the child wrote is waited for, what others may write is not. */
async function giveUpIdle(pumps: readonly Pump[]): Promise<void> {
  do {
    await sleep(DRAIN_MS)
    // After a pause of this process the timer is due before the pipes were looked at.
    await nextTurn()
  } while (!pumps.every(pump => pump.isIdle()))
  for (const pump of pumps) pump.giveUp()
}
