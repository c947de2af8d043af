/**
 * The liveness signal: a record on stdout for stream-json, a line on stderr else (and before the first record). It comes only while nothing was written
 * for one interval, and only if the event loop turns. In json and text format nothing ever resets it: quiet equals elapsed (measured).
 */
import type { JsonRecord } from './records.ts'

interface LivenessState {
  readonly state: string
  readonly phase: string
  readonly pendingPermissions: number
  readonly backgroundTasks: Readonly<Record<string, number>>
}

export interface Heartbeat {
  readonly activity: () => void
  readonly beatNow: (forged: JsonRecord) => void
  /** Returns what it was. */
  readonly switchTo: (on: boolean) => boolean
}

export interface HeartbeatFacts {
  /** null: the flag was not given; only forged beats come. */
  readonly intervalMs: number | null
  readonly sessionId: string
  readonly look: () => LivenessState
  /** True once records go to stdout. */
  readonly onRecords: () => boolean
  readonly emit: (record: JsonRecord) => void
  readonly stderr: (line: string) => void
}

export function startHeartbeat(facts: HeartbeatFacts): Heartbeat {
  const startedAt = performance.now()
  let activeAt = startedAt
  let index = 0
  let on = true
  const beat = (forged: JsonRecord): void => {
    index += 1
    const now = performance.now()
    const look = facts.look()
    const record = {
      type: 'system',
      subtype: 'heartbeat',
      timestamp: new Date().toISOString(),
      elapsed_ms: Math.round(now - startedAt),
      since_last_activity_ms: Math.round(now - activeAt),
      state: look.state,
      phase: look.phase,
      heartbeat_index: index,
      pending_permission_requests: look.pendingPermissions,
      background_tasks: look.backgroundTasks,
      ...forged,
    }
    if (facts.onRecords()) facts.emit(record)
    else facts.stderr(stderrLine(record, facts.sessionId))
  }
  const tick = (): void => {
    if (!on) return
    const before = activeAt
    beat({})
    activeAt = before
  }
  const timer = facts.intervalMs === null ? null : setInterval(tick, facts.intervalMs)
  timer?.unref()
  return {
    activity: () => {
      activeAt = performance.now()
      timer?.refresh()
    },
    beatNow: forged => {
      const before = activeAt
      beat(forged)
      activeAt = before
    },
    switchTo: value => {
      const was = on
      on = value
      return was
    },
  }
}

interface StderrFacts {
  readonly elapsed_ms: number
  readonly since_last_activity_ms: number
  readonly state: unknown
  readonly phase: unknown
}

function stderrLine(beat: StderrFacts, session: string): string {
  const elapsed = seconds(beat.elapsed_ms)
  const quiet = seconds(beat.since_last_activity_ms)
  return `openclaude: heartbeat elapsed=${elapsed} quiet=${quiet} state=${String(beat.state)} phase=${String(beat.phase)} session=${session}\n`
}

function seconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(1)}s`
}
