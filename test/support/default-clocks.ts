/** The default clocks in milliseconds; `docs-watchdog.spec.ts` holds them against the configuration and the documentation. */
import type { WatchdogSettings } from '../../src/executor/watchdog/settings.ts'

export const DEFAULT_CLOCKS: WatchdogSettings = {
  firstEventTimeoutMs: 120_000,
  idleTimeoutMs: 240_000,
  toolTimeoutMs: 660_000,
  agentToolTimeoutMs: 1_200_000,
  backgroundTimeoutMs: 600_000,
  settleTimeoutMs: 30_000,
  maxRuntimeMs: 3_600_000,
  heartbeatMs: 30_000,
}
