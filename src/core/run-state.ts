/** The state of a run before its first entry, and the questions every rule asks of it. Changes belong to `apply-entry.ts`. */
import { OpenClaudeError, assertNever } from '../errors.ts'
import type { Graph, TaskId } from './graph-types.ts'
import { findCycle, graphEdges, remainingPaths, topologicalOrder } from './graph-order.ts'
import { addReady, newReadyQueue } from './ready-queue.ts'
import type { AttemptState, NextAttempt, RunPolicy, RunState, TaskState } from './run-types.ts'

export const FIRST_ATTEMPT: NextAttempt = { kind: 'first', guidance: '', guidanceSource: null, freshTree: false }

/** Spawn failures of one task before a person is asked (the breaker of the run usually comes first). */
export const MAX_SPAWN_FAILURES = 3

/** A blocked task names at most this many root causes; each one reopened makes room for the next. */
export const MAX_CAUSES = 16

/** Tasks without dependencies are ready at once: readiness is derived, never written. Throws `OC_GRAPH_INVALID` on a cycle. */
export function newRunState(graph: Graph, run: string, policy: RunPolicy): RunState {
  const edges = graphEdges(graph.tasks)
  const order = topologicalOrder(edges)
  if (order.length < graph.tasks.length) throw cycleError(graph, findCycle(edges) ?? [])
  const paths = remainingPaths(edges, order)
  const tasks = graph.tasks.map((spec, index): TaskState => ({
    spec,
    index,
    depth: 0,
    parent: null,
    state: { status: 'pending' },
    openDependencies: edges.dependencies[index]?.length ?? 0,
    dependents: [...edges.dependents[index] ?? []],
    attempts: 0,
    lastAttempt: 0,
    queued: null,
    children: null,
    extraAttempts: 0,
    reworks: 0,
    rounds: 0,
    spawnFailures: 0,
    unchanged: 0,
    last: null,
    remainingPath: paths[index] ?? 1,
  }))
  const ready = newReadyQueue()
  for (const task of tasks) {
    if (task.openDependencies > 0) continue
    task.state = { status: 'ready', next: FIRST_ATTEMPT }
    addReady(ready, tasks, task.index)
  }
  return {
    run,
    policy,
    status: 'running',
    result: null,
    tasks,
    byId: new Map(tasks.map(task => [task.spec.id, task])),
    ready,
    executing: 0,
    counts: {
      pending: tasks.length - ready.heap.length, blocked: 0, ready: ready.heap.length, active: 0, landing: 0,
      accepted: 0, split: 0, failed: 0, escalated: 0, cancelled: 0,
    },
    breaker: { key: null, count: 0 },
    splitChildren: 0,
    costUsd: 0,
    tokens: 0,
    handoffs: 0,
  }
}

function cycleError(graph: Graph, chain: readonly number[]): OpenClaudeError {
  const names = [...chain, ...chain.slice(0, 1)].map(index => graph.tasks[index]?.id ?? '?')
  return new OpenClaudeError('OC_GRAPH_INVALID', `graph: tasks depend on each other in a circle: ${names.join(' -> ')}`, {
    subject: 'graph',
    fix: 'Remove one of these dependencies.',
  })
}

export function taskOf(state: RunState, id: TaskId): TaskState {
  const task = state.byId.get(id)
  if (task === undefined) throw new OpenClaudeError('OC_INTERNAL', `task "${id}" is not part of run ${state.run}`)
  return task
}

/** The attempt that is under way, landing included. */
export function openAttempt(task: TaskState): AttemptState | null {
  return task.state.status === 'active' || task.state.status === 'landing' ? task.state.attempt : null
}

/** The task uses one of `maxConcurrency` slots (SEMANTICS 13: judging frees it). */
export function holdsSlot(task: TaskState): boolean {
  if (task.state.status !== 'active' || task.state.attempt.suspended) return false
  const { phase } = task.state.attempt
  return phase === 'preparing' || phase === 'executing'
}

/** Judging frees a slot only where the judged tree is not the one that others work in. */
export function slotsInUse(state: RunState): number {
  return state.policy.sharedTree ? state.counts.active + state.counts.landing : state.executing
}

/** Attempts a task may have in total; reworks are not among them. */
export function attemptLimit(task: TaskState, policy: RunPolicy): number {
  return (task.spec.maxAttempts ?? policy.maxRetriesPerTask) + task.extraAttempts
}

/** The task ended without being accepted: what waits for it is blocked. */
export function isStuck(task: TaskState): boolean {
  const { status } = task.state
  return status === 'failed' || status === 'escalated' || status === 'cancelled'
}

/** Nothing of this engine has to be waited for: the run is over, or stopping, and no attempt holds a slot. */
export function isSettled(state: RunState): boolean {
  return state.status !== 'running' && state.executing === 0
}

export function overBudget(state: RunState): string | null {
  const { maxBudgetUsd, maxBudgetTokens } = state.policy
  if (maxBudgetUsd !== null && state.costUsd >= maxBudgetUsd) {
    return `The run has cost ${state.costUsd.toFixed(4)} US dollars; maxBudgetUsd is ${maxBudgetUsd}.`
  }
  if (maxBudgetTokens !== null && state.tokens >= maxBudgetTokens) {
    return `The run has used ${state.tokens} tokens; maxBudgetTokens is ${maxBudgetTokens}.`
  }
  return null
}

/** Open, and without a child or a landing that has to be waited for. */
export function isOpen(task: TaskState): boolean {
  switch (task.state.status) {
    case 'pending':
    case 'blocked':
    case 'ready':
    case 'split':
      return true
    case 'active':
      return task.state.attempt.phase !== 'executing' || task.state.attempt.suspended
    case 'landing':
    case 'accepted':
    case 'failed':
    case 'escalated':
    case 'cancelled':
      return false
    default:
      return assertNever(task.state)
  }
}
