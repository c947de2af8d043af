/**
 * What happened in a run, per task, attempt and launch: the fold of its journal that reports and status are made from.
 * Owns no decision; the state that decides is the core's.
 */
import type { Entry, HandoffAnswer, RunResult } from '../core/entry-types.ts'
import type { Graph, TaskId, TaskSpec } from '../core/graph-types.ts'
import { applyToAttempt, newAttempt, type AttemptHistory } from './attempt-history.ts'

export interface StampedEntry {
  /** Wall time, ISO 8601. */
  readonly at: string
  readonly entry: Entry
}

export interface TaskHistory {
  readonly id: TaskId
  readonly index: number
  readonly spec: TaskSpec
  readonly parent: TaskId | null
  status: 'pending' | 'blocked' | 'active' | 'accepted' | 'split' | 'failed' | 'escalated' | 'cancelled'
  reason: string | null
  causes: readonly TaskId[]
  handoff: string | null
  readonly answers: { readonly answer: HandoffAnswer, readonly by: string, readonly note: string, readonly at: string }[]
  readonly attempts: AttemptHistory[]
  acceptedAt: string | null
}

export interface RunHistory {
  readonly run: string
  createdAt: string | null
  finishedAt: string | null
  lastAt: string | null
  status: 'running' | 'stopping' | 'stopped' | 'finished'
  result: RunResult | null
  engines: number
  /** The last engine said that it left; false = it lives, or it died. */
  engineLeft: boolean
  readonly tasks: TaskHistory[]
  readonly byId: Map<TaskId, TaskHistory>
  readonly warnings: { readonly at: string, readonly code: string, readonly message: string, readonly task: TaskId | null }[]
}

export function newHistory(run: string, graph: Graph): RunHistory {
  const history: RunHistory = {
    run, createdAt: null, finishedAt: null, lastAt: null, status: 'running', result: null, engines: 0, engineLeft: true, tasks: [], byId: new Map(), warnings: [],
  }
  for (const spec of graph.tasks) addTask(history, spec, null)
  return history
}

function addTask(history: RunHistory, spec: TaskSpec, parent: TaskId | null): void {
  const task: TaskHistory = {
    id: spec.id, index: history.tasks.length, spec, parent, status: 'pending', reason: null, causes: [], handoff: null,
    answers: [], attempts: [], acceptedAt: null,
  }
  history.tasks.push(task)
  history.byId.set(spec.id, task)
}

/** Changes `history` in place. Entries that belong to no known task are of no interest here and are passed over. */
export function applyToHistory(history: RunHistory, { at, entry }: StampedEntry): void {
  history.lastAt = at
  if (applyToRun(history, at, entry)) return
  if (!('task' in entry) || entry.task === undefined) return
  const task = history.byId.get(entry.task)
  if (task === undefined) return
  if (applyToTask(history, task, at, entry)) return
  if (entry.kind === 'attempt-started') {
    task.status = 'active'
    task.attempts.push(newAttempt(entry.attempt, entry.attemptKind, at))
    return
  }
  const attempt = 'attempt' in entry ? task.attempts.findLast(candidate => candidate.attempt === entry.attempt) : undefined
  if (attempt !== undefined) applyToAttempt(attempt, at, entry)
}

function applyToRun(history: RunHistory, at: string, entry: Entry): boolean {
  switch (entry.kind) {
    case 'run-created':
      history.createdAt = at
      return true
    case 'engine-started':
      history.engines += 1
      history.engineLeft = false
      if (history.status !== 'finished') history.status = 'running'
      return true
    case 'run-reopened':
      history.status = 'running'
      history.result = null
      history.finishedAt = null
      return true
    case 'engine-stopping':
      history.status = 'stopping'
      return true
    case 'engine-stopped':
      history.engineLeft = true
      if (history.status !== 'finished') history.status = 'stopped'
      return true
    case 'run-finished':
      history.status = 'finished'
      history.result = entry.result
      history.finishedAt = at
      return true
    case 'warning':
      history.warnings.push({ at, code: entry.code, message: entry.message, task: entry.task ?? null })
      return true
    default:
      return false
  }
}

function applyToTask(history: RunHistory, task: TaskHistory, at: string, entry: Entry): boolean {
  switch (entry.kind) {
    case 'task-blocked':
      task.status = 'blocked'
      task.causes = entry.causes
      return true
    case 'task-unblocked':
      task.status = 'pending'
      task.causes = []
      return true
    case 'task-split':
      task.status = 'split'
      for (const child of entry.children) addTask(history, child, task.id)
      return true
    case 'task-cancelled':
      task.status = 'cancelled'
      task.reason = `cancelled by ${entry.by}`
      return true
    case 'task-failed':
      task.status = 'failed'
      task.reason = entry.reason
      return true
    case 'task-accepted':
      task.status = 'accepted'
      task.reason = entry.note ?? null
      task.acceptedAt = at
      return true
    case 'handoff-opened':
      task.status = 'escalated'
      task.reason = entry.reason
      task.handoff = entry.handoff
      return true
    case 'handoff-answered':
      task.handoff = null
      task.answers.push({ answer: entry.answer, by: entry.by, note: entry.note, at })
      return true
    default:
      return false
  }
}
