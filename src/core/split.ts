/**
 * Splitting a task: the parent becomes the join that waits for its children, so whatever waited for the parent waits for them.
 * Children come from a model: they may not bring commands or checks of their own, nor widen what the parent may edit (SEMANTICS 12).
 */
import type { TaskId, TaskSpec } from './graph-types.ts'
import { findCycle, graphEdges, remainingPaths } from './graph-order.ts'
import { FIRST_ATTEMPT } from './run-state.ts'
import type { RunPolicy, RunState, TaskState } from './run-types.ts'
import { addReady } from './ready-queue.ts'
import { TASK_ID_RULE, isTaskId } from './task-id.ts'

/** Every reason why the split may not be made; empty = legal. */
export function splitFaults(state: RunState, parent: TaskState, children: readonly TaskSpec[]): readonly string[] {
  const faults: string[] = []
  const { maxSplitDepth, maxSplitChildren } = state.policy
  if (children.length === 0) faults.push('The split names no tasks.')
  if (parent.children !== null) faults.push(`Task "${parent.spec.id}" has been split before.`)
  if (parent.depth + 1 > maxSplitDepth) faults.push(`Task "${parent.spec.id}" is ${parent.depth} splits deep; ${maxSplitDepth} are allowed.`)
  if (state.splitChildren + children.length > maxSplitChildren) {
    faults.push(`The run would have ${state.splitChildren + children.length} tasks from splits; ${maxSplitChildren} are allowed.`)
  }
  const taken = new Set(state.tasks.map(task => task.spec.id.toLowerCase()))
  const siblings = new Set(children.map(child => child.id))
  for (const child of children) {
    const name = `Task "${child.id}"`
    if (!isTaskId(child.id)) faults.push(`${name}: an id ${TASK_ID_RULE}.`)
    if (taken.has(child.id.toLowerCase())) faults.push(`${name} has an id that is taken (case is ignored).`)
    taken.add(child.id.toLowerCase())
    for (const id of child.dependencies) {
      if (siblings.has(id) || outside(state, parent, id)) continue
      faults.push(`${name} depends on "${id}", which is unknown or waits for "${parent.spec.id}" itself.`)
    }
    faults.push(...privileges(state.policy, parent, child))
  }
  const cycle = findCycle(graphEdges(children))
  if (cycle !== null) faults.push(`The tasks depend on each other in a circle: ${cycle.map(index => children[index]?.id).join(' -> ')}.`)
  return faults
}

function privileges(policy: RunPolicy, parent: TaskState, child: TaskSpec): readonly string[] {
  const faults: string[] = []
  const name = `Task "${child.id}"`
  if (child.command !== undefined) faults.push(`${name} brings a command; only a graph written by a person may.`)
  if (child.checks !== undefined) faults.push(`${name} brings checks; only a graph written by a person may.`)
  if (child.assignee !== parent.spec.assignee && !policy.agents.includes(child.assignee)) {
    faults.push(`${name} is assigned to "${child.assignee}", which is no agent of this run.`)
  }
  const editable = new Set(parent.spec.mayEdit)
  if (child.mayEdit?.some(glob => !editable.has(glob)) === true) faults.push(`${name} may edit more judge files than "${parent.spec.id}".`)
  if (child.expectTests !== undefined && child.expectTests < (parent.spec.expectTests ?? 1)) faults.push(`${name} lowers expectTests.`)
  return faults
}

/** A task of the run that does not wait for the parent, directly or through others. */
function outside(state: RunState, parent: TaskState, id: TaskId): boolean {
  const target = state.byId.get(id)
  if (target === undefined || target === parent) return false
  if (target.state.status === 'accepted') return true
  const seen = new Set<number>([parent.index])
  for (const index of seen) {
    for (const dependent of state.tasks[index]?.dependents ?? []) {
      if (dependent === target.index) return false
      seen.add(dependent)
    }
  }
  return true
}

/** Appends the children and makes the parent wait for all of them. Changes `state`; called by `applyEntry` only. The parent's status is not touched. */
export function insertChildren(state: RunState, parent: TaskState, children: readonly TaskSpec[]): void {
  const paths = remainingPaths(graphEdges(children))
  const first = state.tasks.length
  for (const [offset, spec] of children.entries()) {
    const child: TaskState = {
      spec,
      index: first + offset,
      depth: parent.depth + 1,
      parent: parent.spec.id,
      state: { status: 'pending' },
      openDependencies: 0,
      dependents: [parent.index],
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
      remainingPath: parent.remainingPath + (paths[offset] ?? 1),
    }
    state.tasks.push(child)
    state.byId.set(spec.id, child)
    state.counts.pending += 1
  }
  state.splitChildren += children.length
  parent.children = children.map(child => child.id)
  parent.openDependencies = children.length
  for (const child of state.tasks.slice(first)) connect(state, child)
}

function connect(state: RunState, child: TaskState): void {
  for (const id of new Set(child.spec.dependencies)) {
    const dependency = state.byId.get(id)
    if (dependency === undefined) continue
    dependency.dependents.push(child.index)
    if (dependency.state.status !== 'accepted') child.openDependencies += 1
  }
  if (child.openDependencies > 0) return
  state.counts.pending -= 1
  state.counts.ready += 1
  child.state = { status: 'ready', next: FIRST_ATTEMPT }
  addReady(state.ready, state.tasks, child.index)
}
