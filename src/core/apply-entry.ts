/**
 * The only place that changes the state of a run. The state is the fold of the entries and nothing else (SEMANTICS 6).
 * Applies facts; decides nothing, asks for nothing. An entry that does not fit the state is a defect and throws `OC_INTERNAL`.
 */
import { assertNever } from '../errors.ts'
import type { Entry } from './entry-types.ts'
import type { Graph } from './graph-types.ts'
import type { RunPolicy, RunState, TaskState } from './run-types.ts'
import { applyAttemptEntry, startAttempt } from './apply-attempt.ts'
import { holdsSlot, newRunState, openAttempt, taskOf } from './run-state.ts'
import { insertChildren } from './split.ts'
import { accept, leaveAttempt, makeWaiting, reopen, setStatus } from './task-status.ts'

/** Folds a whole journal. The policy may differ from the one the run began with only in what SEMANTICS 11 lets change on resume. */
export function foldEntries(graph: Graph, run: string, policy: RunPolicy, entries: Iterable<Entry>): RunState {
  const state = newRunState(graph, run, policy)
  for (const entry of entries) applyEntry(state, entry)
  return state
}

/** Changes `state` in place. */
export function applyEntry(state: RunState, entry: Entry): void {
  if (entry.kind === 'warning') return
  if (!('task' in entry)) {
    applyRunEntry(state, entry)
    return
  }
  if (entry.kind === 'pin-advanced') return
  const task = taskOf(state, entry.task)
  const held = holdsSlot(task)
  applyTaskEntry(state, task, entry)
  state.executing += Number(holdsSlot(task)) - Number(held)
}

type RunEntry = Exclude<Entry, { readonly task: string } | { readonly kind: 'warning' }>
type TaskEntry = Exclude<Extract<Entry, { readonly task: string }>, { readonly kind: 'warning' | 'pin-advanced' }>

function applyRunEntry(state: RunState, entry: RunEntry): void {
  switch (entry.kind) {
    case 'run-created':
    case 'engine-suspended':
    case 'control-received':
      return
    case 'engine-started':
      if (state.status !== 'finished') wake(state)
      return
    case 'run-reopened':
      state.result = null
      state.breaker = { key: null, count: 0 }
      for (const task of state.tasks) task.spawnFailures = 0
      wake(state)
      return
    case 'engine-stopping':
    case 'engine-stopped':
      if (state.status === 'running') state.status = 'stopping'
      return
    case 'run-finished':
      state.status = 'finished'
      state.result = entry.result
      return
    default:
      assertNever(entry)
  }
}

/** Suspended attempts take their slots again. */
function wake(state: RunState): void {
  state.status = 'running'
  if (state.counts.active === 0) return
  for (const task of state.tasks) {
    const attempt = openAttempt(task)
    if (attempt === null || !attempt.suspended) continue
    attempt.suspended = false
    if (holdsSlot(task)) state.executing += 1
  }
}

function applyTaskEntry(state: RunState, task: TaskState, entry: TaskEntry): void {
  switch (entry.kind) {
    case 'attempt-started':
      startAttempt(state, task, entry)
      return
    case 'task-blocked':
      setStatus(state, task, { status: 'blocked', causes: entry.causes })
      return
    case 'task-unblocked':
      makeWaiting(state, task, task.queued)
      return
    case 'task-split':
      insertChildren(state, task, entry.children)
      leaveAttempt(state, task, { status: 'split', children: entry.children.map(child => child.id) })
      return
    case 'task-cancelled':
      leaveAttempt(state, task, { status: 'cancelled', by: entry.by })
      return
    case 'task-failed':
      leaveAttempt(state, task, { status: 'failed', reason: entry.reason })
      return
    case 'task-accepted':
      accept(state, task, entry.attempt, entry.evidence, entry.commit)
      return
    case 'handoff-opened':
      state.handoffs += 1
      leaveAttempt(state, task, { status: 'escalated', handoff: entry.handoff, reason: entry.reason })
      return
    case 'handoff-answered':
      applyAnswer(state, task, entry)
      return
    case 'attempt-ended':
    case 'attempt-suspended':
    case 'workspace-intended':
    case 'workspace-ready':
    case 'launch-intended':
    case 'launch-live':
    case 'launch-adopted':
    case 'launch-first-record':
    case 'launch-ended':
    case 'launch-swept':
    case 'launch-spawn-failed':
    case 'check-evidence':
    case 'verdict':
    case 'advice':
    case 'decision':
    case 'patch-intended':
    case 'patch-applied':
    case 'land-intended':
    case 'landed':
    case 'land-refused':
      applyAttemptEntry(state, task, entry)
      return
    default:
      assertNever(entry)
  }
}

function applyAnswer(state: RunState, task: TaskState, entry: Extract<Entry, { kind: 'handoff-answered' }>): void {
  switch (entry.answer) {
    case 'retry':
      reopen(state, task, entry.note)
      return
    case 'drop':
      setStatus(state, task, { status: 'failed', reason: entry.note === '' ? `given up by ${entry.by}` : entry.note })
      return
    case 'accept':
      if (task.last === null) return
      task.last.note = entry.note
      setStatus(state, task, { status: 'landing', attempt: task.last })
      return
    default:
      assertNever(entry.answer)
  }
}
