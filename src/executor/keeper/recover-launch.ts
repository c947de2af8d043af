/**
 * What a next engine does with a launch that has no recorded end (SEMANTICS 7): adopt it, take its end from the files, or prove that it never began.
 * The caller holds the repository's lock, so no other engine recovers the same launch.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import type { Origin } from '../process/identity.ts'
import { compareOrigin, isAlive, ownOrigin, signalProcess } from '../process/identity.ts'
import { climbKillLadder, waitGone } from '../process/kill-ladder.ts'
import { claimLaunch, LAUNCH_FILES, readExitFile, readLaunchFile, readSpecFile } from './launch-files.ts'
import type { LaunchExit, RecoveredLaunch, RecoverRequest, SweepResult } from './launch-types.ts'
import { exitOf, LaunchOutput, modifiedAt, openLaunch, unknownExit } from './live-launch.ts'
import { LaunchTree, markerOf } from '../process/process-tree.ts'
import { sweepLaunch } from './sweep.ts'

const POLL_MS = 20
/** Between its claim and the child's identity a keeper needs milliseconds; one that takes this long is stopped or stuck. */
const KEEPER_OVERDUE_MS = 15_000

export async function recoverLaunch(request: RecoverRequest): Promise<RecoveredLaunch> {
  const { dir } = request
  const deadline = performance.now() + KEEPER_OVERDUE_MS
  let keeperClaimed = false
  for (;;) {
    const exit = readExitFile(dir)
    if (exit?.kind === 'exit') return ended(request, exitOf(exit, dir))
    if (exit?.kind === 'spawn-failed') return { kind: 'never-started', sweep: sweeper(request) }
    const foreign = foreignMessage(request)
    if (foreign !== null) return { kind: 'foreign', message: foreign }

    const file = readLaunchFile(dir)
    const keeper = file?.keeper ?? request.keeper
    const child = file?.child ?? null
    const lives = keeper !== null && isAlive(keeper) && isMarked(keeper, request)
    // It may have ended between the two looks, with its record written.
    if (!lives && readExitFile(dir) !== null) continue
    if (lives && keeper !== null && child !== null) return adopt(request, keeper, child)
    if (!lives && (keeperClaimed || child !== null || request.child !== null)) return orphaned(request)
    if (lives && keeper !== null && file === null && request.child !== null) {
      // It was live, so its files were there: a keeper whose directory is gone can't record an end.
      signalProcess(keeper, 'SIGKILL')
      await waitGone([keeper], KEEPER_OVERDUE_MS)
      continue
    }
    // No child is known. Whoever holds the claim decides whether there may be one; what its holder wrote before is read once more.
    if (!keeperClaimed && claim(request) === 'engine') return neverStarted(request, lives ? keeper : null)
    if (keeperClaimed) await sleep(POLL_MS)
    keeperClaimed = true
    if (performance.now() > deadline && lives && keeper !== null) signalProcess(keeper, 'SIGKILL')
  }
}

function adopt(request: RecoverRequest, keeper: ProcessIdentity, child: ProcessIdentity): RecoveredLaunch {
  const progressAt = modifiedAt(request.dir, LAUNCH_FILES.stdout) ?? modifiedAt(request.dir, LAUNCH_FILES.launch)
  const age = progressAt === null ? 0 : Math.max(0, Math.round(Date.now() - progressAt))
  return { kind: 'adopted', launch: openLaunch(request, keeper, child, age).launch }
}

/** The keeper is gone without a record of the end: a child that still runs works for nobody, and is ended before anybody takes its place. */
async function orphaned(request: RecoverRequest): Promise<RecoveredLaunch> {
  const child = readLaunchFile(request.dir)?.child ?? request.child
  const known: ProcessIdentity[] = []
  if (child === null) {
    await sweeper(request)()
  } else {
    const tree = new LaunchTree(child)
    known.push(child, ...tree.refresh())
    await climbKillLadder(tree, 0, AbortSignal.abort())
  }
  return ended(request, unknownExit(request.dir), known)
}

function ended(request: RecoverRequest, exit: LaunchExit, known: readonly ProcessIdentity[] = []): RecoveredLaunch {
  return {
    kind: 'ended',
    exit,
    read: async (listener) => {
      const output = new LaunchOutput(request.dir)
      output.listener = listener
      await output.deliver()
      await output.close()
    },
    sweep: sweeper(request, known),
  }
}

/** The claim is ours: a keeper that comes late finds it and leaves by itself. @param keeper one that lives. */
async function neverStarted(request: RecoverRequest, keeper: ProcessIdentity | null): Promise<RecoveredLaunch> {
  if (keeper !== null && !await waitGone([keeper], KEEPER_OVERDUE_MS)) signalProcess(keeper, 'SIGKILL')
  return { kind: 'never-started', sweep: sweeper(request) }
}

/** A directory that is gone can't be claimed and can't hold a child that ever wrote there: what the marker finds is ended. */
function claim({ dir }: RecoverRequest): 'keeper' | 'engine' {
  return modifiedAt(dir, '.') === null ? 'engine' : claimLaunch(dir, 'engine')
}

/** Where environments can't be read the identity alone must do. */
function isMarked({ pid }: ProcessIdentity, { marker }: RecoverRequest): boolean {
  const mark = markerOf(pid, marker)
  return mark === 'own' || mark === 'unknown'
}

function sweeper(request: RecoverRequest, known: readonly ProcessIdentity[] = []): () => Promise<SweepResult> {
  return () => {
    const file = readLaunchFile(request.dir)
    const { marker, workspaceRoot } = request
    return sweepLaunch({ marker, workspaceRoot, keeper: file?.keeper ?? request.keeper, tag: file?.tag ?? null, known })
  }
}

/** Pids of another host or PID namespace mean nothing here, so nothing may be concluded from their absence. */
function foreignMessage({ dir, keeper }: RecoverRequest): string | null {
  const origin = readSpecFile(dir)?.origin ?? originOf(readLaunchFile(dir)?.keeper ?? keeper)
  if (origin === null || compareOrigin(origin) !== 'foreign') return null
  return `The launch in ${dir} was started on host ${origin.host}, boot ${origin.bootId}, PID namespace ${origin.pidNs}; from here its processes can be neither seen nor ended. Continue the run from there, or end it there first.`
}

/** A request file is lost with the power only, and then this is the same host after a new boot. */
function originOf(identity: ProcessIdentity | null): Origin | null {
  return identity === null ? null : { bootId: identity.bootId, pidNs: identity.pidNs, host: ownOrigin().host }
}
