/** What the live view and `status` show of each task, as text cells. Pure: history, activity and the time in; rows out. */
import type { AttemptActivity } from '../executor/executor.ts'
import { formatDuration } from '../report/duration.ts'
import type { AttemptHistory } from '../report/attempt-history.ts'
import type { RunHistory, TaskHistory } from '../report/history.ts'
import { printableLine } from '../report/printable.ts'

export interface LiveActivity extends AttemptActivity {
  /** Monotonic ms at which the launch was first heard of. */
  readonly since: number
}

export interface TaskRow {
  readonly task: string
  readonly mark: string
  readonly phase: string
  readonly attempt: string
  readonly launch: string
  readonly elapsed: string
  readonly lastActivity: string
  readonly cost: string
  readonly note: string
}

const MARKS: Record<TaskHistory['status'], string> = {
  pending: '·', blocked: '⊘', active: '▸', accepted: '✓', split: '⑂', failed: '✗', escalated: '?', cancelled: '–',
}

/** `now` is monotonic ms like `LiveActivity`, `wallNow` epoch ms like the stamps of the history. */
export function taskRow(task: TaskHistory, activity: LiveActivity | undefined, now: number, wallNow: number): TaskRow {
  const attempt = task.attempts.at(-1)
  const running = task.status === 'active'
  return {
    task: task.id,
    mark: MARKS[task.status],
    phase: phaseOf(task, attempt),
    attempt: attempt === undefined ? '' : String(attempt.attempt),
    launch: attempt === undefined || attempt.launches.length === 0 ? '' : String(attempt.launches.length),
    elapsed: attempt === undefined ? '' : formatDuration(attemptMs(task, attempt, wallNow)),
    lastActivity: running && activity !== undefined && attempt?.outcome === null ? `${formatDuration(now - activity.progressAt)} ago` : '',
    cost: costOf(task, activity),
    note: noteOf(task, attempt, activity),
  }
}

function phaseOf(task: TaskHistory, attempt: AttemptHistory | undefined): string {
  if (task.status !== 'active' || attempt === undefined) return task.status
  if (attempt.decisions.length > 0 && attempt.verdicts.length > 0) return 'landing'
  if (attempt.verdicts.length > 0) return 'deciding'
  if (attempt.outcome !== null) return 'judging'
  return attempt.launches.length === 0 ? 'preparing' : 'executing'
}

function attemptMs(task: TaskHistory, attempt: AttemptHistory, wallNow: number): number {
  const end = task.status === 'active' ? wallNow : Date.parse(task.acceptedAt ?? attempt.endedAt ?? attempt.startedAt)
  return end - Date.parse(attempt.startedAt)
}

function costOf(task: TaskHistory, activity: LiveActivity | undefined): string {
  const ended = task.attempts.flatMap(attempt => attempt.launches).reduce((sum, launch) => sum + (launch.end?.costUsd ?? 0), 0)
  const cost = Math.max(ended, activity?.costUsd ?? 0)
  return cost > 0 ? `$${cost.toFixed(4)}` : ''
}

function noteOf(task: TaskHistory, attempt: AttemptHistory | undefined, activity: LiveActivity | undefined): string {
  if (task.status === 'blocked') return `by ${task.causes.join(', ')}`
  if (task.reason !== null && task.status !== 'accepted') return printableLine(task.reason, 100)
  if (task.status !== 'active' || attempt === undefined) return ''
  if (attempt.outcome === null && activity !== undefined) {
    return [activity.lastTool, activity.phase === '' ? null : activity.phase].filter(part => part !== null).join(', ')
  }
  const evidence = attempt.evidence.at(-1)
  return evidence === undefined ? '' : `${evidence.check} ${evidence.grade}`
}

/** `12/40 accepted, 2 active, 1 failed` */
export function countsLine(history: RunHistory): string {
  const counts = new Map<TaskHistory['status'], number>()
  for (const task of history.tasks) counts.set(task.status, (counts.get(task.status) ?? 0) + 1)
  const others = (['active', 'pending', 'blocked', 'failed', 'escalated', 'cancelled', 'split'] as const)
    .filter(status => counts.has(status))
    .map(status => `${counts.get(status)} ${status}`)
  return [`${counts.get('accepted') ?? 0}/${history.tasks.length} accepted`, ...others].join(', ')
}
