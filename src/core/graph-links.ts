/**
 * Checks what only several tasks together can break: unique ids, known dependencies, known executors, no cycle (R-52, R-53).
 * Good graphs of 100,000 tasks pass through here on every load: one map of ids, one look-up per edge, nothing else per task.
 */
import { type FaultList, itemPath, memberPath } from './fault-list.ts'
import { findCycles } from './graph-cycle.ts'
import type { TaskSpec } from './graph-types.ts'
import { type NameFinder, nameFinder } from './nearest-name.ts'
import { observed, quoted } from './observed.ts'

export interface LinkContext {
  /** JSON path of the list the tasks are in. */
  readonly list: string
  readonly executors: readonly string[]
  /** Some id has upper-case letters, so that equal ids must be looked for without regard to case. */
  readonly mixedCase: boolean
  readonly faults: FaultList
}

/** The tasks in the places of the file: null stands for one that could not be decoded, an empty id for one that has none. */
type Tasks = readonly (TaskSpec | null)[]

/** Ids shown of one cycle; a longer chain is cut in the middle. */
const SHOWN_CHAIN = 20
const SHOWN_CYCLES = 100

export function checkLinks(tasks: Tasks, context: LinkContext): void {
  const byId = indexById(tasks, context)
  const starts = new Int32Array(tasks.length + 1)
  const targets: number[] = []
  const lastUse = new Int32Array(tasks.length).fill(-1)
  const report = linkReporter(byId, context)
  let assignee = ''
  for (let index = 0; index < tasks.length; index += 1) {
    starts[index] = targets.length
    const task = tasks[index]
    if (task === null || task === undefined) continue
    if (task.assignee !== assignee) {
      if (context.executors.includes(task.assignee)) assignee = task.assignee
      else report.assignee(task, index)
    }
    for (let at = 0; at < task.dependencies.length; at += 1) {
      const target = byId.get(task.dependencies[at] ?? '')
      if (target === undefined || target === index || lastUse[target] === index) {
        report.dependency(task, index, at)
      } else {
        lastUse[target] = index
        targets.push(target)
      }
    }
  }
  starts[tasks.length] = targets.length
  for (const cycle of findCycles({ starts, targets }, SHOWN_CYCLES)) reportCycle(cycle, tasks, context)
}

function indexById(tasks: Tasks, context: LinkContext): ReadonlyMap<string, number> {
  const byId = new Map<string, number>()
  let named = 0
  for (let index = 0; index < tasks.length; index += 1) {
    const task = tasks[index]
    if (task === null || task === undefined || task.id === '') continue
    byId.set(task.id, index)
    named += 1
  }
  if (context.mixedCase || byId.size !== named) reportEqualIds(tasks, context)
  return byId
}

/** Ids that differ only in case count as equal: they would share a folder on some disks. */
function reportEqualIds(tasks: Tasks, { list, faults }: LinkContext): void {
  const firstUse = new Map<string, number>()
  for (const [index, task] of tasks.entries()) {
    if (task === null || task.id === '') continue
    const first = firstUse.get(task.id.toLowerCase())
    if (first === undefined) {
      firstUse.set(task.id.toLowerCase(), index)
      continue
    }
    const other = tasks[first]?.id ?? ''
    faults.add(
      memberPath(itemPath(list, index), 'id'),
      `Task ${index + 1}: the id ${quoted(task.id)} ${other === task.id ? 'is used twice' : `differs from ${quoted(other)} only in case`}, `
      + `first at ${itemPath(list, first)}; ids must be unique without regard to case.`,
    )
  }
}

interface LinkReporter {
  readonly assignee: (task: TaskSpec, index: number) => void
  readonly dependency: (task: TaskSpec, index: number, at: number) => void
}

function linkReporter(byId: ReadonlyMap<string, number>, { list, executors, faults }: LinkContext): LinkReporter {
  const executorNames = nameFinder(executors)
  let idNames: NameFinder | undefined
  return {
    assignee(task, index) {
      faults.add(
        memberPath(itemPath(list, index), 'assignee'),
        `Task ${quoted(task.id)}: no executor is named ${quoted(task.assignee)}; known executors are ${executors.join(', ')}.`,
        executorNames.nearest(task.assignee),
      )
    },
    dependency(task, index, at) {
      const path = itemPath(memberPath(itemPath(list, index), 'dependencies'), at)
      const subject = `Task ${quoted(task.id)}`
      const dependency: unknown = task.dependencies[at]
      if (typeof dependency !== 'string') faults.add(path, `${subject}: each entry of dependencies must be the id of a task; got ${observed(dependency)}.`)
      else if (byId.get(dependency) === index) faults.add(path, `${subject}: it depends on itself.`, 'remove the entry')
      else if (byId.has(dependency)) faults.add(path, `${subject}: it lists the dependency ${quoted(dependency)} twice.`, 'remove the entry')
      else {
        idNames ??= nameFinder([...byId.keys()])
        faults.add(path, `${subject}: there is no task ${quoted(dependency)} to depend on.`, idNames.nearest(dependency))
      }
    },
  }
}

function reportCycle(cycle: readonly number[], tasks: Tasks, { list, faults }: LinkContext): void {
  const ids = [...cycle, cycle[0] ?? 0].map(index => tasks[index]?.id ?? '?')
  const shown = ids.length <= SHOWN_CHAIN
    ? ids
    : [...ids.slice(0, SHOWN_CHAIN / 2), `(${ids.length - SHOWN_CHAIN} more)`, ...ids.slice(-SHOWN_CHAIN / 2)]
  faults.add(
    memberPath(itemPath(list, cycle[0] ?? 0), 'dependencies'),
    `Tasks wait for each other in a circle: ${shown.join(' -> ')}. "a -> b" reads: a depends on b.`,
    'remove one of these dependencies',
  )
}
