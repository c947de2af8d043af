/**
 * The contract between an executor and the keeper that runs a child (SEMANTICS 7).
 * One launch directory belongs to one launch; whoever creates `claim` in it first (the keeper, or a recovering engine) decides whether a child may start at all.
 */
import type { EndReason, ExitFact, ProcessIdentity, SpawnFailure } from '../../core/attempt-types.ts'

export interface LaunchRequest {
  /** Absolute, exists, empty, 0700. */
  readonly dir: string
  readonly argv: readonly string[]
  readonly cwd: string
  /** The complete environment of the child, the marker included. Goes to the keeper through its pipe, never to disk. */
  readonly env: Readonly<Record<string, string>>
  /** Name and value of the marker variable. */
  readonly marker: { readonly name: string, readonly value: string }
  /** Written to the child's stdin, which is then closed. */
  readonly prompt: string
  readonly workspaceRoot: string
  readonly maxStreamBytes: number
  /** The keeper ends the tree after this even with no engine alive; 0 = no bound. */
  readonly maxRuntimeMs: number
  readonly killGraceMs: number
  readonly onEngineDeath: 'adopt' | 'end'
}

/** What a launch directory tells after the end. */
export interface LaunchExit {
  readonly exit: ExitFact
  /** Set when the keeper ended the tree by itself (flood, run-time bound, engine gone). */
  readonly endedByKeeper: EndReason | null
  readonly durationMs: number
}

export type EndUrgency = 'ladder' | 'now'

export interface LaunchChunk {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

/** A launch whose keeper lives, started by this engine or adopted. */
export interface LiveLaunch {
  readonly keeper: ProcessIdentity
  readonly child: ProcessIdentity | null
  /** Age in ms of the newest stdout byte when the launch was taken over; 0 for a launch of ours. */
  readonly progressAgeMs: number
  /** Delivers every byte of both files from their start, in order per stream, as they grow. At most one listener. */
  readonly onChunk: (listener: (chunk: LaunchChunk) => void) => void
  /** Settles after the exit is known and every byte was delivered. Never rejects. */
  readonly exited: Promise<LaunchExit>
  /** Ends the whole tree by the ladder of DESIGN 5.6. Idempotent, a stronger urgency shortens a weaker one. Resolves when the child is gone. */
  readonly end: (urgency: EndUrgency) => Promise<void>
  /** CPU time of the child's tree in clock ticks; null where it can't be read. */
  readonly cpuTicks: () => number | null
  /** Ends what the child left behind: descendants, marker, cwd inside the workspace. Also after normal ends. */
  readonly sweep: () => Promise<SweepResult>
  /** True while the child is stopped (state T). */
  readonly stopped: () => boolean
}

export interface SweepResult {
  /** `tainted`: something is left that could not be ended. */
  readonly result: 'clean' | 'tainted'
  readonly ended: number
}

export type StartedLaunch =
  | { readonly kind: 'live', readonly launch: LiveLaunch }
  | { readonly kind: 'failed', readonly failure: SpawnFailure }

/** What the next engine finds for a launch that has no recorded end (table of SEMANTICS 7). */
export type RecoveredLaunch =
  | { readonly kind: 'adopted', readonly launch: LiveLaunch }
  /** The end is on disk, or the processes are gone; the files may still be read. `exit` is unknown when nobody recorded it. */
  | { readonly kind: 'ended', readonly exit: LaunchExit, readonly read: (listener: (chunk: LaunchChunk) => void) => Promise<void>, readonly sweep: () => Promise<SweepResult> }
  /** No child was ever started and none can start any more. */
  | { readonly kind: 'never-started', readonly sweep: () => Promise<SweepResult> }
  /** Another PID namespace or host: it can be neither seen nor ended. */
  | { readonly kind: 'foreign', readonly message: string }

/** A launch without a recorded end, as the journal knows it. */
export interface RecoverRequest {
  readonly dir: string
  readonly marker: { readonly name: string, readonly value: string }
  readonly workspaceRoot: string
  readonly killGraceMs: number
  /** From `launch-live`; null when only `launch-intended` is there. The launch directory knows better where it can be read. */
  readonly keeper: ProcessIdentity | null
  readonly child: ProcessIdentity | null
}
