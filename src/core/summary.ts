/** Views of a run's state: counts, one line per task, root causes. For status, progress line and report; derived, never stored. */
import type { RunResult } from './entry-types.ts'
import type { TaskId } from './graph-types.ts'
import type { AttemptState, RunState, TaskState, TaskStatus } from './run-types.ts'
import { attemptLimit, isStuck, openAttempt } from './run-state.ts'

export interface RootCause {
  readonly task: TaskId
  readonly status: 'failed' | 'escalated' | 'cancelled'
  readonly reason: string
  /** Id of the open hand-off; null unless escalated. */
  readonly handoff: string | null
  /** Tasks that name it as a cause. */
  readonly blocks: number
}

export interface TaskSummary {
  readonly id: TaskId
  readonly title: string
  readonly status: TaskStatus['status']
  /** Phase of the open attempt; null without one. */
  readonly phase: AttemptState['phase'] | null
  /** Number of the open or newest attempt; 0 = none yet. */
  readonly attempt: number
  readonly attempts: number
  readonly attemptLimit: number
  readonly launches: number
  /** Why it is where it is; empty when the status says all. */
  readonly reason: string
  readonly causes: readonly TaskId[]
}

export interface RunSummary {
  readonly run: string
  readonly status: RunState['status']
  readonly result: RunResult | null
  readonly counts: Readonly<Record<TaskStatus['status'], number>>
  readonly total: number
  readonly costUsd: number
  readonly tokens: number
  readonly rootCauses: readonly RootCause[]
}

/** O(V). */
export function summarizeRun(state: RunState): RunSummary {
  const { run, status, result, counts, costUsd, tokens } = state
  return { run, status, result, counts: { ...counts }, total: state.tasks.length, costUsd, tokens, rootCauses: rootCauses(state) }
}

function rootCauses(state: RunState): readonly RootCause[] {
  if (state.counts.failed + state.counts.escalated + state.counts.cancelled === 0) return []
  const blocks = new Map<TaskId, number>()
  for (const task of state.tasks) {
    if (task.state.status !== 'blocked') continue
    for (const cause of task.state.causes) blocks.set(cause, (blocks.get(cause) ?? 0) + 1)
  }
  return state.tasks.filter(isStuck).flatMap(task => {
    const { status } = task.state
    if (status !== 'failed' && status !== 'escalated' && status !== 'cancelled') return []
    const handoff = task.state.status === 'escalated' ? task.state.handoff : null
    return [{ task: task.spec.id, status, reason: reasonOf(task), handoff, blocks: blocks.get(task.spec.id) ?? 0 }]
  })
}

export function summarizeTask(state: RunState, task: TaskState): TaskSummary {
  const open = openAttempt(task)
  return {
    id: task.spec.id,
    title: task.spec.title,
    status: task.state.status,
    phase: task.state.status === 'active' ? task.state.attempt.phase : null,
    attempt: task.lastAttempt,
    attempts: task.attempts,
    attemptLimit: attemptLimit(task, state.policy),
    launches: (open ?? task.last)?.launches.launches.length ?? 0,
    reason: reasonOf(task),
    causes: task.state.status === 'blocked' ? task.state.causes : [],
  }
}

function reasonOf(task: TaskState): string {
  switch (task.state.status) {
    case 'failed':
    case 'escalated':
      return task.state.reason
    case 'cancelled':
      return `cancelled by ${task.state.by}`
    case 'ready':
      return task.state.next.kind === 'first' ? '' : `${task.state.next.kind}: ${task.last?.verdict?.reason ?? task.last?.outcome?.message ?? ''}`
    case 'pending':
    case 'blocked':
    case 'active':
    case 'landing':
    case 'accepted':
    case 'split':
      return ''
    default:
      return task.state satisfies never
  }
}
