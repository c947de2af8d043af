/**
 * State of the watchdog and its fold over observations. Time enters as `at` (monotonic ms) and is never read.
 * Owns what is known; which clock that starts is `situation.ts`.
 */
import { assertNever } from '../../errors.ts'
import type { ChildRecord } from '../stream/child-record.ts'
import { applyToWork, backgroundTasks, belongsToMain, newOpenWork, type OpenWork } from '../stream/open-work.ts'
import { endsTurn, opensTurn } from '../stream/turns.ts'
import type { WatchdogSettings } from './settings.ts'

export type Observation =
  | { readonly kind: 'record', readonly record: ChildRecord }
  /** CPU time of the child's tree in clock ticks (null = can't be read) and whether the child is stopped by a signal. */
  | { readonly kind: 'ticks', readonly cpuTicks: number | null, readonly stopped: boolean }
  /**
   * Starts every window anew. `suspended`: the machine slept or this program stood still, so silence proves nothing.
   * `reported`: dry-run has said what it would end; the same clock speaks again after one more window.
   */
  | { readonly kind: 're-arm', readonly why: 'suspended' | 'reported' }

export interface WatchdogState {
  readonly settings: WatchdogSettings
  /** The launch itself; bounds its run time, also over adoption. */
  readonly startedAt: number
  readonly work: OpenWork
  /** A record that is no heartbeat has come. */
  begun: boolean
  /** Last progress of the main conversation, and of anything at all. */
  progressAt: number
  anyProgressAt: number
  /** Since when the child itself says that it is quiet; null = not said since the last progress. */
  ownQuietSince: number | null
  /** Delay of the retry that the newest record of the main conversation announced. */
  retryDelayMs: number | null
  /** A result was read and no new turn began. */
  turnEnded: boolean
  /** Since when nothing runs in the background any more, as far as it counts for settling. */
  settledAt: number
  /** A question for a permission that is open. */
  permission: { readonly since: number, readonly reported: boolean } | null
  phase: string | null
  heartbeatSeen: boolean
  /** Last sign that the event loop turns: a heartbeat or a record. */
  signAt: number
  cpu: { readonly ticks: number, readonly since: number, readonly until: number } | null
  stopped: boolean
  /** Nothing the child says of the time before this counts; null = it may say anything. */
  rearmedAt: number | null
  overrunReported: boolean
}

/**
 * @param at Now: the first windows start here. Adoption gives one full window.
 * @param startedAt When the launch started, on the same clock; earlier than `at` for an adopted one.
 */
export function newWatchdog(settings: WatchdogSettings, at: number, startedAt: number = at): WatchdogState {
  return {
    settings, startedAt, work: newOpenWork(),
    begun: false, progressAt: at, anyProgressAt: at, ownQuietSince: null, retryDelayMs: null,
    turnEnded: false, settledAt: at, permission: null, phase: null,
    heartbeatSeen: false, signAt: at, cpu: null, stopped: false, rearmedAt: startedAt < at ? at : null, overrunReported: false,
  }
}

/** Changes `state` in place and returns it. `at` never decreases from call to call. */
export function observe(state: WatchdogState, observation: Observation, at: number): WatchdogState {
  switch (observation.kind) {
    case 'record':
      observeRecord(state, observation.record, at)
      return state
    case 'ticks':
      observeTicks(state, observation.cpuTicks, at)
      state.stopped = observation.stopped
      return state
    case 're-arm':
      rearm(state, at)
      if (observation.why === 'reported') markReported(state, at)
      return state
    default:
      return assertNever(observation)
  }
}

function observeRecord(state: WatchdogState, record: ChildRecord, at: number): void {
  if (record.kind === 'noise') return
  const ranInBackground = backgroundTasks(state.work) > 0
  // Before the work changes: the result of a call belongs to the call it closes.
  const main = isMainNews(state, record)
  applyToWork(state.work, record)
  state.signAt = at
  if (record.kind === 'heartbeat') observeHeartbeat(state, record, at)
  else observeProgress(state, record, main, at)
  if (ranInBackground && backgroundTasks(state.work) === 0) state.settledAt = at
}

function observeHeartbeat(state: WatchdogState, beat: Extract<ChildRecord, { kind: 'heartbeat' }>, at: number): void {
  state.heartbeatSeen = true
  if (beat.phase !== '') state.phase = beat.phase
  if (beat.source === 'text') return
  const asked = beat.state === 'requires_action' && beat.pendingPermissions > 0
  state.permission = asked ? state.permission ?? { since: at, reported: false } : null
  // The child's clock slept with the machine: before the last re-arm it proves nothing.
  const said = at - beat.sinceLastActivityMs
  const since = Math.max(said, state.rearmedAt ?? said)
  state.ownQuietSince = Math.min(state.ownQuietSince ?? since, since)
}

function observeProgress(state: WatchdogState, record: ChildRecord, main: boolean, at: number): void {
  state.begun = true
  state.anyProgressAt = at
  if (!main) return
  state.progressAt = at
  state.ownQuietSince = null
  state.permission = null
  state.retryDelayMs = record.kind === 'api-retry' ? record.delayMs : null
  if (endsTurn(record)) state.turnEnded = true
  else if (opensTurn(record)) state.turnEnded = false
}

function isMainNews(state: WatchdogState, record: ChildRecord): boolean {
  switch (record.kind) {
    case 'assistant':
    case 'user':
    case 'stream-event':
      return belongsToMain(state.work, record.parent)
    case 'tool-progress':
      return belongsToMain(state.work, record.parent ?? record.toolUseId)
    case 'task':
      return belongsToMain(state.work, record.toolUseId)
    case 'init':
    case 'api-retry':
    case 'result':
    case 'oversize':
    case 'other':
      return true
    case 'heartbeat':
    case 'noise':
      return false
    default:
      return assertNever(record)
  }
}

function observeTicks(state: WatchdogState, ticks: number | null, at: number): void {
  if (ticks === null) state.cpu = null
  else if (state.cpu?.ticks === ticks) state.cpu = { ...state.cpu, until: at }
  else state.cpu = { ticks, since: at, until: at }
}

function rearm(state: WatchdogState, at: number): void {
  state.rearmedAt = at
  state.progressAt = at
  state.anyProgressAt = at
  state.settledAt = at
  state.signAt = at
  state.ownQuietSince = null
}

/** What has no window to start anew is said once. */
function markReported(state: WatchdogState, at: number): void {
  const { maxRuntimeMs } = state.settings
  if (maxRuntimeMs > 0 && at >= state.startedAt + maxRuntimeMs) state.overrunReported = true
  if (state.permission !== null) state.permission = { ...state.permission, reported: true }
}
