/**
 * The vocabulary of a scenario: which script a launch of the simulated OpenClaude plays. Types only, shared by scenario files and by tests in TypeScript.
 * Strings inside steps may hold {{prompt}}, {{cwd}}, {{session}}, {{use}}, {{env.NAME}} and {{1}}..{{9}} (capture groups of `promptMatches`).
 */

export interface Scenario {
  /** The first rule that matches and is not used up is played. */
  readonly rules: readonly Rule[]
  /** Played when no rule fits. Default: one text `ok`. */
  readonly otherwise?: readonly Step[]
  /** Applies to every launch; a rule's own `setup` wins key by key. */
  readonly setup?: Setup
}

export interface Rule {
  /** Names the rule in counters and in the launch log. Default: its position. */
  readonly name?: string
  readonly when?: When
  /** The rule is taken this often over all processes that share the state folder (per value of capture group 1, if there is one), then falls through. */
  readonly times?: number
  readonly setup?: Setup
  readonly play: readonly Step[]
}

/** Every given condition must hold. */
export interface When {
  /** Part of the prompt. */
  readonly prompt?: string
  /** Source of a regular expression over the prompt (flags `su`). */
  readonly promptMatches?: string
  /** Name to value of the simulator's environment; null = not set. */
  readonly env?: Readonly<Record<string, string | null>>
  readonly launch?: 'fresh' | 'resume'
  /** Arguments that must all be present. */
  readonly args?: readonly string[]
  /** Part of the stored conversation that is resumed. */
  readonly history?: string
}

export type IgnorableSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

export interface Setup {
  /** `refuse`: a stored session is answered as if it were unknown. */
  readonly resume?: 'normal' | 'refuse'
  /** `in-use`: a given session id is answered as taken. */
  readonly sessionId?: 'normal' | 'in-use'
  /** `off`: no heartbeat ever, whatever the flag says. */
  readonly heartbeat?: 'normal' | 'off'
  /** What total_cost_usd and modelUsage cover: this process, or all processes of the session. */
  readonly cost?: 'process' | 'session'
  /** Instead of the measured arithmetic (100 tokens in, a quarter of the characters out, 5 and 25 USD per million). */
  readonly usagePerReply?: { readonly inputTokens: number, readonly outputTokens: number, readonly costUsd: number }
  /** false: the session file is removed before the process ends normally. */
  readonly keepSession?: boolean
  readonly ignoreSignals?: readonly IgnorableSignal[]
  /** Time from the start to the first reaction of any kind. */
  readonly startDelayMs?: number
  /** Model named in the init record and modelUsage, whatever was asked for. */
  readonly model?: string
}

type Loop = 'alive' | 'dead' | 'busy'

export interface ResultOverrides {
  readonly subtype?: string
  readonly isError?: boolean
  /** null removes the field. */
  readonly text?: string | null
  readonly stopReason?: string | null
  readonly errors?: readonly string[]
  readonly numTurns?: number
  readonly costUsd?: number
  /** More fields of the record, or other values for them. */
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface ReportBlock {
  readonly summary?: string
  readonly files?: readonly string[]
  readonly verification?: string
  readonly unfinished?: string
}

export type Step =
  /** The init record. Without this step it comes before the first step that speaks. */
  | { readonly do: 'init' }
  /** Text of the assistant. With --include-partial-messages also as stream events, `chunks` of them (default: 24 characters each) `chunkMs` apart. `hangAfterChunks`: the stream stops there for ever. `more`: the reply goes on with the next step. */
  | {
    readonly do: 'text'
    readonly text: string
    readonly report?: ReportBlock
    readonly chunks?: number
    readonly chunkMs?: number
    readonly hangAfterChunks?: number
    readonly more?: boolean
  }
  | { readonly do: 'write', readonly path: string, readonly content: string }
  | { readonly do: 'edit', readonly path: string, readonly find: string, readonly replace: string, readonly all?: boolean }
  | { readonly do: 'delete', readonly path: string }
  | { readonly do: 'read', readonly path: string }
  /** A real command in a session of its own. `background`: run_in_background, its end opens a second turn. */
  | { readonly do: 'bash', readonly command: string, readonly description?: string, readonly timeoutMs?: number, readonly background?: boolean }
  /** A tool call without any real effect. `ms`: how long it takes; `hang`: its result never comes. */
  | {
    readonly do: 'tool'
    readonly name: string
    readonly input?: Readonly<Record<string, unknown>>
    readonly output?: string
    readonly isError?: boolean
    readonly ms?: number
    readonly hang?: boolean
  }
  /** A foreground helper: its tool steps carry the id of the Agent call as parent; its texts are not shown. */
  | { readonly do: 'helper', readonly description: string, readonly prompt: string, readonly steps: readonly Step[], readonly answer?: string }
  /** A tool call that asks for permission. `afterMs`: then it is given (else never), and the phase stays stale as in the real program. */
  | { readonly do: 'permission', readonly tool: string, readonly input?: Readonly<Record<string, unknown>>, readonly afterMs?: number, readonly toolMs?: number }
  /** A tool call that is refused and listed in permission_denials. */
  | { readonly do: 'denied', readonly tool: string, readonly input?: Readonly<Record<string, unknown>> }
  /** One record per delay, each followed by its wait. */
  | {
    readonly do: 'api-retry'
    readonly delaysMs: readonly number[]
    readonly status?: number | null
    readonly error?: string
    readonly maxRetries?: number
    /** Number of the first record (default 1). */
    readonly from?: number
    /** Real wait instead of the announced one. */
    readonly waitMs?: number
  }
  /** The reply of a failed model request: synthetic text, result success / is_error true, exit 1. */
  | { readonly do: 'api-error', readonly text: string, readonly error?: string }
  /** Nothing happens for `ms`, or for ever. `dead`: the event loop blocks without CPU; `busy`: it spins. `at: 'exit'`: after all output was written. */
  | { readonly do: 'hang', readonly ms?: number, readonly loop?: Loop, readonly at?: 'here' | 'exit' }
  | { readonly do: 'wait-for-file', readonly path: string }
  /** One heartbeat now, with forged fields. */
  | { readonly do: 'heartbeat', readonly state?: string, readonly phase?: string, readonly fields?: Readonly<Record<string, unknown>> }
  | { readonly do: 'heartbeats', readonly on: boolean }
  /** Any record, as given; session_id and uuid are added when absent. */
  | { readonly do: 'record', readonly record: Readonly<Record<string, unknown>> }
  /** Bytes that are no record. */
  | { readonly do: 'raw', readonly text?: string, readonly base64?: string, readonly to?: 'stdout' | 'stderr' }
  /** One line of at least so many bytes: a tool result record, or garbage. */
  | { readonly do: 'long-line', readonly bytes: number, readonly kind?: 'record' | 'garbage' }
  | { readonly do: 'flood', readonly bytes: number, readonly line?: string, readonly to?: 'stdout' | 'stderr' }
  /** A text record written in pieces of `pieceBytes` (default 1), so that UTF-8 sequences are cut. */
  | { readonly do: 'split-text', readonly text: string, readonly pieceBytes?: number, readonly delayMs?: number }
  /** A process that outlives the tool call: plain child, own session, double fork, or double fork with an empty environment. */
  | {
    readonly do: 'spawn'
    readonly how: 'child' | 'setsid' | 'double-fork' | 'empty-env'
    readonly command: string
    readonly ignoreSigterm?: boolean
    readonly holdStdout?: boolean
    readonly pidFile?: string
  }
  | { readonly do: 'ignore-signals', readonly signals: readonly IgnorableSignal[] }
  /** The result record now; without this step it comes at the end of the play. */
  | ({ readonly do: 'result' } & ResultOverrides)
  /** The play ends without a result record. */
  | { readonly do: 'no-result' }
  | { readonly do: 'exit', readonly code: number }
  | { readonly do: 'die', readonly signal: string }
  /** After the background tasks ended: the steps of the turn they open. */
  | { readonly do: 'next-turn' }

export type StepName = Step['do']
