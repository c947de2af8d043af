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

/** Heartbeats that may be missing before the event loop counts as dead. */
export const MISSED_HEARTBEATS = 3
