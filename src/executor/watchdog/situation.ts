/**
 * The table of SEMANTICS 4: what the child is doing now, and the one clock that runs for it.
 * Owns the choice and its limits; does not own time or the fold.
 */
import type { Clock } from '../../core/attempt-types.ts'
import { backgroundTasks, isAgentTool, mainToolNames } from '../stream/open-work.ts'
import type { WatchdogState } from './state.ts'

/** Exactly one of these runs at any time; `requires-action`, `event-loop` and `max-runtime` watch beside it. */
export type SituationClock = Extract<Clock, 'first-event' | 'idle' | 'tool' | 'agent-tool' | 'retry-wait' | 'background' | 'settle'>

export interface Situation {
  readonly clock: SituationClock
  /** Start of the window, monotonic ms. */
  readonly since: number
  /** Length of the window in ms; null = this clock is switched off. */
  readonly limitMs: number | null
  /** What the child was doing, for a stall report. */
  readonly doing: string
}

export function situationOf(state: WatchdogState): Situation {
  const { settings, work } = state
  if (!state.begun) {
    return {
      clock: 'first-event',
      since: state.progressAt,
      limitMs: settings.firstEventTimeoutMs,
      doing: 'had not written its first record',
    }
  }
  const background = backgroundTasks(work)
  if (state.turnEnded) return afterResult(state, background)
  const tools = mainToolNames(work)
  if (tools.length > 0) return inTools(state, tools)
  if (state.retryDelayMs !== null) {
    return {
      clock: 'retry-wait',
      since: state.progressAt,
      limitMs: whenOn(settings.idleTimeoutMs, settings.idleTimeoutMs + state.retryDelayMs),
      doing: `waited ${seconds(state.retryDelayMs)} before it asked the model again`,
    }
  }
  // The child's own clock counts only here, and only while nothing runs in the background.
  const own = background > 0 ? null : state.ownQuietSince
  return {
    clock: 'idle',
    since: Math.min(state.progressAt, own ?? state.progressAt),
    limitMs: whenOn(settings.idleTimeoutMs, settings.idleTimeoutMs),
    doing: 'was owed an answer by the model',
  }
}

function afterResult(state: WatchdogState, background: number): Situation {
  const { settings } = state
  if (background > 0) {
    return {
      clock: 'background',
      since: state.anyProgressAt,
      limitMs: settings.backgroundTimeoutMs,
      doing: `had given its result and still ran ${String(background)} background ${background === 1 ? 'task' : 'tasks'}`,
    }
  }
  return {
    clock: 'settle',
    since: Math.max(state.anyProgressAt, state.settledAt),
    limitMs: settings.settleTimeoutMs,
    doing: 'had given its result and did not exit',
  }
}

/** An agent's call outweighs plain ones beside it: its limit is the longer. A retry announced meanwhile is waited for on top. */
function inTools(state: WatchdogState, tools: readonly string[]): Situation {
  const agent = tools.find(isAgentTool)
  const name = agent ?? tools[0] ?? ''
  const limit = agent === undefined ? state.settings.toolTimeoutMs : state.settings.agentToolTimeoutMs
  return {
    clock: agent === undefined ? 'tool' : 'agent-tool',
    since: state.progressAt,
    limitMs: limit + (state.retryDelayMs ?? 0),
    doing: `ran the tool ${name === '' ? '(name unknown)' : name}`,
  }
}

function whenOn(setting: number, limitMs: number): number | null {
  return setting > 0 ? limitMs : null
}

export function seconds(ms: number): string {
  return `${String(Math.round(ms / 100) / 10)} s`
}
