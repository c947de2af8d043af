/**
 * The live view of a run on a terminal: one line per task, redrawn in place; and its plain form, one line per event.
 * Reads published entries and activity only. Tasks that do not fit the screen are counted, active ones are shown first.
 */
import { createLogUpdate } from 'log-update'
import type { WriteStream } from 'node:tty'
import type { EngineObserver } from '../engine/drive/engine.ts'
import type { RunHistory, TaskHistory } from '../report/history.ts'
import { entryLine } from './entry-lines.ts'
import { countsLine, taskRow, type LiveActivity, type TaskRow } from './task-rows.ts'

const REDRAW_MS = 200

export interface RunView extends EngineObserver {
  /** Leaves the last picture on the screen. Idempotent. */
  readonly close: () => void
}

export function createPlainView(write: (line: string) => void): RunView {
  return {
    entries: entries => {
      for (const entry of entries) {
        const line = entryLine(entry)
        if (line !== null) write(line)
      }
    },
    close: () => undefined,
  }
}

/** `history` is the fold of the run, kept up to date by the run; the view only reads it. */
export function createLiveView(stream: WriteStream, history: RunHistory): RunView {
  const update = createLogUpdate(stream, { showCursor: true })
  const activities = new Map<string, LiveActivity>()
  const draw = (): void => update(picture(history, activities, stream.rows || 24, stream.columns || 80))
  const timer = setInterval(draw, REDRAW_MS)
  let open = true
  return {
    entries: entries => {
      for (const entry of entries) if (entry.kind === 'attempt-ended') activities.delete(entry.task)
    },
    activity: (task, _attempt, activity) => {
      const known = activities.get(task)
      const since = known !== undefined && known.launch === activity.launch ? known.since : performance.now()
      activities.set(task, { ...activity, since })
    },
    close: () => {
      if (!open) return
      open = false
      clearInterval(timer)
      draw()
      update.done()
    },
  }
}

const RANK: Record<TaskHistory['status'], number> = {
  active: 0, escalated: 1, failed: 2, blocked: 3, pending: 4, cancelled: 5, split: 6, accepted: 7,
}

function picture(history: RunHistory, activities: ReadonlyMap<string, LiveActivity>, rows: number, columns: number): string {
  const room = Math.max(3, rows - 3)
  const shown = history.tasks.length <= room
    ? history.tasks
    : history.tasks.toSorted((a, b) => RANK[a.status] - RANK[b.status] || a.index - b.index).slice(0, room)
  const now = performance.now()
  const lines = shown.map(task => taskRow(task, activities.get(task.id), now, Date.now()))
  const hidden = history.tasks.length - shown.length
  return [
    ...table(lines, columns),
    hidden > 0 ? `  … and ${hidden} more` : '',
    `${history.run}  ${countsLine(history)}`,
  ].filter(line => line !== '').join('\n')
}

const CELLS = ['mark', 'task', 'phase', 'attempt', 'launch', 'elapsed', 'lastActivity', 'cost', 'note'] as const
const HEADER: TaskRow = {
  mark: ' ', task: 'task', phase: 'phase', attempt: 'try', launch: 'launch', elapsed: 'elapsed', lastActivity: 'activity', cost: 'cost', note: '',
}

/** Aligned columns; empty columns are left out, each line is cut to the width of the screen. */
export function table(rows: readonly TaskRow[], columns: number): readonly string[] {
  const used = CELLS.filter(cell => rows.some(row => row[cell] !== ''))
  const widths = new Map(used.map(cell => [cell, Math.max(HEADER[cell].length, ...rows.map(row => row[cell].length))]))
  return [HEADER, ...rows].map(row =>
    used.map(cell => row[cell].padEnd(widths.get(cell) ?? 0)).join('  ').trimEnd().slice(0, columns - 1))
}
