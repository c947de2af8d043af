/**
 * A launch whose keeper was alive when we took it: follows its files, notices its end, ends its tree. The same for launches of ours and adopted ones.
 * The keeper's files are the only source: what it has not written did not happen.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import { isAlive, isStopped, signalProcess } from '../process/identity.ts'
import { climbKillLadder } from '../process/kill-ladder.ts'
import type { ExitFile } from './launch-files.ts'
import { LAUNCH_FILES, readExitFile, readLaunchFile } from './launch-files.ts'
import type { EndUrgency, LaunchChunk, LaunchExit, LiveLaunch, SweepResult } from './launch-types.ts'
import type { Marker } from '../process/process-tree.ts'
import { LaunchTree } from '../process/process-tree.ts'
import { sweepLaunch } from './sweep.ts'
import { FollowedFile, TAIL_INTERVAL_MS, TailLoop } from './tail.ts'

/** A keeper drains pipes for 2 s after the exit and syncs; one that needs longer than this is stopped or stuck, and is ended. */
const KEEPER_OVERDUE_MS = 10_000

/** All launches of this engine are looked at by one loop. */
const sharedLoop = new TailLoop(TAIL_INTERVAL_MS)

export interface LaunchPlace {
  readonly dir: string
  readonly marker: Marker
  readonly workspaceRoot: string
  readonly killGraceMs: number
}

export type ChunkListener = (chunk: LaunchChunk) => void

/**
 * @param held kept referenced for the life of the launch: the pipe that tells the keeper that its engine lives.
 * @returns the launch, and `look`, which looks at its files at once instead of at the next round.
 */
export function openLaunch(
  place: LaunchPlace, keeper: ProcessIdentity, firstChild: ProcessIdentity | null, progressAgeMs: number, held?: { readonly release: () => void },
): { readonly launch: LiveLaunch, readonly look: () => Promise<void> } {
  const { dir } = place
  const output = new LaunchOutput(dir)
  const hurry = new AbortController()
  const { promise: exited, resolve: settle } = Promise.withResolvers<LaunchExit>()
  let tree = firstChild === null ? null : new LaunchTree(firstChild)
  let settled = false
  let ending: Promise<void> | null = null
  let looking: Promise<void> = Promise.resolve()

  const treeNow = (): LaunchTree | null => {
    const child = tree === null ? readLaunchFile(dir)?.child ?? null : null
    if (child !== null) tree = new LaunchTree(child)
    return tree
  }
  const sweep = (): Promise<SweepResult> => {
    const tag = readLaunchFile(dir)?.tag ?? null
    return sweepLaunch({ marker: place.marker, workspaceRoot: place.workspaceRoot, keeper, tag, known: treeNow()?.refresh() ?? [] })
  }
  const climb = async (): Promise<void> => {
    const target = treeNow()
    if (target === null) signalProcess(keeper, 'SIGKILL')
    else await climbKillLadder(target, place.killGraceMs, hurry.signal)
    const overdue = setTimeout(() => signalProcess(keeper, 'SIGKILL'), KEEPER_OVERDUE_MS)
    void exited.then(() => clearTimeout(overdue))
  }
  const end = (urgency: EndUrgency): Promise<void> => {
    if (urgency === 'now') hurry.abort()
    ending ??= climb()
    return ending
  }
  const lookOnce = async (): Promise<void> => {
    if (settled) return
    let exit = readExitFile(dir)
    if (exit === null && !isAlive(keeper)) exit = readExitFile(dir) ?? await endOrphan()
    await output.deliver()
    if (exit === null) return
    settled = true
    leave()
    held?.release()
    await output.close()
    settle(exitOf(exit, dir))
  }
  /** A keeper that is gone without a record: its child works for nobody, and nobody will see its end. */
  const endOrphan = async (): Promise<ExitFile> => {
    const target = treeNow()
    if (target === null) await sweep()
    else await climbKillLadder(target, 0, AbortSignal.abort())
    return { v: 1, kind: 'exit', ...unknownExit(dir) }
  }
  const look = (): Promise<void> => {
    looking = looking.then(lookOnce).catch((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)))
    return looking
  }
  const leave = sharedLoop.add(look)

  const launch: LiveLaunch = {
    keeper,
    get child() { return treeNow()?.child ?? null },
    progressAgeMs,
    exited,
    onChunk: (listener) => {
      output.listener = listener
      if (settled) void output.deliver().then(() => output.close())
    },
    end,
    sweep,
    cpuTicks: () => treeNow()?.cpuTicks() ?? null,
    stopped: () => {
      const child = treeNow()?.child
      return child !== undefined && isStopped(child)
    },
  }
  return { launch, look }
}

/** Both files of a launch, each read once from its start. */
export class LaunchOutput {
  readonly #files: readonly (readonly [LaunchChunk['stream'], FollowedFile])[]
  listener: ChunkListener | null = null
  #warned = false

  constructor(dir: string) {
    this.#files = [['stdout', new FollowedFile(join(dir, LAUNCH_FILES.stdout))], ['stderr', new FollowedFile(join(dir, LAUNCH_FILES.stderr))]]
  }

  /** Delivers what is new; does nothing without a listener. Never rejects: what can't be read or handled is told once as a process warning. */
  async deliver(): Promise<void> {
    const { listener } = this
    if (listener === null) return
    for (const [stream, file] of this.#files) {
      try {
        await file.readNew(bytes => listener({ stream, bytes }))
      } catch (error) {
        if (!this.#warned) process.emitWarning(error instanceof Error ? error : String(error))
        this.#warned = true
      }
    }
  }

  async close(): Promise<void> {
    for (const [, file] of this.#files) await file.close()
  }
}

export function exitOf(file: ExitFile, dir: string): LaunchExit {
  if (file.kind === 'spawn-failed') return unknownExit(dir)
  const { exit, endedByKeeper, durationMs } = file
  return { exit, endedByKeeper, durationMs }
}

/** The duration is what the files show: from the request to the last output. */
export function unknownExit(dir: string): LaunchExit {
  const from = modifiedAt(dir, LAUNCH_FILES.spec)
  const to = modifiedAt(dir, LAUNCH_FILES.stdout)
  return { exit: { known: false }, endedByKeeper: null, durationMs: from === null || to === null ? 0 : Math.max(0, Math.round(to - from)) }
}

/** @returns null when the file is not there or can't be asked. */
export function modifiedAt(dir: string, name: string): number | null {
  try {
    return statSync(join(dir, name)).mtimeMs
  } catch {
    // The launch never came so far, or its directory is gone: no time is known.
    return null
  }
}
