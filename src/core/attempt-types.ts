/**
 * The vocabulary of an attempt: its launches, how each ended, and the outcome. Types only.
 * Independent facts stay independent: exit, signal, the clock that fired, cancellation and what the child reported are fields of their own.
 */

/** Identity of a process that survives pid reuse. `pidNs` is the inode of the PID namespace; empty where the platform has none. */
export interface ProcessIdentity {
  readonly bootId: string
  readonly pidNs: string
  readonly pid: number
  readonly startTicks: string
}

/** The clocks of the watchdog (SEMANTICS 4). */
export const CLOCKS = [
  'first-event', 'idle', 'tool', 'agent-tool', 'retry-wait', 'background', 'settle', 'event-loop', 'requires-action', 'max-runtime',
] as const
export type Clock = (typeof CLOCKS)[number]

export type ExitFact =
  | { readonly known: true, readonly code: number | null, readonly signal: string | null }
  /** Nobody saw the exit: the keeper died, or the machine did. */
  | { readonly known: false }

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheCreationTokens: number
}

export interface PermissionDenial {
  readonly tool: string
  readonly toolUseId: string
}

/** What the last result record of a launch said. */
export interface ReportedResult {
  readonly subtype: string
  readonly isError: boolean
  readonly stopReason: string | null
  /** Final text; cut at 64 KiB. */
  readonly text: string
  readonly errors: readonly string[]
  readonly turns: number
  readonly denials: readonly PermissionDenial[]
}

/** The trailing `Report` block that the child is asked to write. */
export type ChildReport =
  | { readonly kind: 'absent' }
  | {
    readonly kind: 'present'
    readonly summary: string
    readonly files: readonly string[]
    readonly verification: string
    readonly unfinished: string
  }

/** Why we ended a launch; absent when it ended by itself. The first reason wins. */
export type EndReason =
  | { readonly kind: 'clock', readonly clock: Clock }
  | { readonly kind: 'flooded' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'abort' }
  | { readonly kind: 'keeper-bound' }

/** Everything known of one launch after its end. */
export interface LaunchEnd {
  readonly exit: ExitFact
  /** Set when we ended it. */
  readonly endedBy: EndReason | null
  /** The last result record, if any. */
  readonly result: ReportedResult | null
  /** A result record was seen but was too long to decode (F18). */
  readonly resultOversize: boolean
  /** Ids of tool calls without a result when the stream ended. */
  readonly openTools: readonly string[]
  readonly backgroundTasks: number
  readonly records: number
  /** Name of the last tool that was called, and the last heartbeat phase; null when none was seen. */
  readonly lastTool: string | null
  readonly lastPhase: string | null
  readonly usage: Usage
  /** US dollars, of this process alone. */
  readonly costUsd: number
  /** The model named by the init record or the result; null when neither came. */
  readonly model: string | null
  readonly stderrTail: string
  readonly durationMs: number
}

export type LaunchMode = 'fresh' | 'resume'

/** Why a launch was started. */
export type LaunchReason =
  | 'first' | 'stalled' | 'overrun' | 'resume-refused' | 'engine-restart' | 'killed-externally'

/** Facts about launches that an executor reports; each becomes one journal entry. `launch` counts from 1 within the attempt. */
export type LaunchFact =
  | {
    readonly kind: 'launch-intended'
    readonly launch: number
    readonly mode: LaunchMode
    readonly reason: LaunchReason
    readonly sessionId: string
    /** Value of the marker variable in the environment of the child and all it starts. */
    readonly marker: string
    /** Launch directory; relative to the run directory. */
    readonly dir: string
  }
  | {
    readonly kind: 'launch-live'
    readonly launch: number
    readonly keeper: ProcessIdentity | null
    readonly child: ProcessIdentity | null
  }
  | { readonly kind: 'launch-adopted', readonly launch: number, readonly child: ProcessIdentity | null }
  /** The first well-formed record of the launch was read; resets the breaker. */
  | { readonly kind: 'launch-first-record', readonly launch: number }
  | { readonly kind: 'launch-ended', readonly launch: number, readonly end: LaunchEnd, readonly tree: string | null }
  | { readonly kind: 'launch-swept', readonly launch: number, readonly result: 'clean' | 'tainted', readonly ended: number }
  | { readonly kind: 'launch-spawn-failed', readonly launch: number, readonly failure: SpawnFailure }
  | { readonly kind: 'warning', readonly launch: number, readonly code: string, readonly message: string }

export interface SpawnFailure {
  readonly reason: 'not-found' | 'not-executable' | 'bad-interpreter' | 'missing-cwd' | 'argument-too-long' | 'bad-argument' | 'no-resources' | 'keeper' | 'unknown-executor' | 'exits-at-once'
  /** Names the executable and the places that were tried. */
  readonly message: string
  /** Equal keys are the same failure for the breaker. */
  readonly key: string
}

/** One launch as the fold of its facts. */
export interface LaunchState {
  readonly launch: number
  readonly mode: LaunchMode
  readonly reason: LaunchReason
  readonly sessionId: string
  readonly marker: string
  readonly dir: string
  status: 'intended' | 'live' | 'ended' | 'swept'
  keeper: ProcessIdentity | null
  child: ProcessIdentity | null
  adopted: number
  firstRecord: boolean
  end: LaunchEnd | null
  tree: string | null
  swept: 'clean' | 'tainted' | null
}

/** Launches of one attempt and their counters (SEMANTICS 5). The fold lives in `attempt.ts`; the executor decides on it. */
export interface AttemptLaunches {
  readonly launches: LaunchState[]
  stalledRestarts: number
  freshSessions: number
  engineRelaunches: number
  externalKills: number
}

/** How an attempt ended. The kind is the reason that decided; the facts stay beside it. */
export type OutcomeKind =
  /** The last launch reported success (DESIGN 5.4). Only the judge may call the work done. */
  | 'succeeded'
  /** The child ended with an error result, or without any result. */
  | 'agent-error' | 'no-result' | 'result-oversize'
  | 'stalled' | 'overrun' | 'permission-wait' | 'flooded'
  | 'killed-externally' | 'tainted'
  | 'spawn-failed'
  /** Engine relaunches without a new record reached their limit: a person decides. */
  | 'relaunch-limit'
  /** We ended it: a stop keeps the attempt open, an abort ends it. */
  | 'stopped' | 'aborted'

export interface AttemptOutcome {
  readonly kind: OutcomeKind
  /** One sentence for people. No raw child output, no environment values. */
  readonly message: string
  readonly launches: number
  readonly sessionId: string | null
  /** How `exit` supports `succeeded`: seen 0, unknown, or a death we did not cause after the final record. */
  readonly exit: ExitFact | null
  readonly clock: Clock | null
  readonly lastPhase: string | null
  readonly lastTool: string | null
  readonly spawnFailure: SpawnFailure | null
  readonly result: ReportedResult | null
  readonly report: ChildReport
  /** Sums over the launches of the attempt. */
  readonly usage: Usage
  readonly costUsd: number
  readonly model: string | null
  readonly stderrTail: string
  readonly durationMs: number
}
