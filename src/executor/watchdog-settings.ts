/** The clocks of one launch, resolved. The table with reasons is SEMANTICS 4 and `docs/watchdog.md`. */

/** Milliseconds. 0 = off only for `idleTimeoutMs` and `maxRuntimeMs`. */
export interface WatchdogSettings {
  readonly firstEventTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly toolTimeoutMs: number
  readonly agentToolTimeoutMs: number
  readonly backgroundTimeoutMs: number
  readonly settleTimeoutMs: number
  readonly maxRuntimeMs: number
  /** Interval the child was told to beat in; null = no heartbeat, the event-loop clock is off. */
  readonly heartbeatMs: number | null
}

export const DEFAULT_WATCHDOG_SETTINGS: WatchdogSettings = {
  firstEventTimeoutMs: 120_000,
  idleTimeoutMs: 240_000,
  // Bash stops its own commands at 600 s.
  toolTimeoutMs: 660_000,
  agentToolTimeoutMs: 1_200_000,
  backgroundTimeoutMs: 600_000,
  settleTimeoutMs: 30_000,
  maxRuntimeMs: 3_600_000,
  heartbeatMs: 30_000,
}

/** Heartbeats that may be missing before the event loop counts as dead. */
export const MISSED_HEARTBEATS = 3
