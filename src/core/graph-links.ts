/**
 * Checks what only several tasks together can break: unique ids, known dependencies, known executors, no cycle (R-52, R-53).
 * Good graphs of 100,000 tasks pass through here on every load: one map of ids and one look-up per edge.
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
  /** `mixedCase`: some id has upper-case letters, so that equal ids must be looked for without regard to case. */
  readonly state: { readonly mixedCase: boolean }
  readonly faults: FaultList
}

/** The tasks in the places of the file: null stands for one that could not be decoded, an empty id for one that has none. */
type Tasks = readonly (TaskSpec | null)[]

/** Ids shown of one cycle; a longer chain is cut in the middle. */
const SHOWN_CHAIN = 20
const SHOWN_CYCLES = 100

export interface GraphLinker {
  /** Takes the next task; null for one that could not be decoded. */
  readonly add: (task: TaskSpec | null, index: number) => void
  /** Reports what is left to report; call once, after the last task. */
  readonly finish: () => void
}

const UNKNOWN = -1

/** Links tasks while they are decoded and still in the cache of the processor; edges to later tasks wait for the end. */
export function graphLinker(count: number, context: LinkContext): GraphLinker {
  const tasks: (TaskSpec | null)[] = []
  const byId = new Map<string, number>()
  const edges = { starts: new Int32Array(count + 1), targets: [] as number[] }
  const lastUse = new Int32Array(count).fill(UNKNOWN)
  const waiting: number[] = []
  let named = 0
  let assignee = ''

  function add(task: TaskSpec | null, index: number): void {
    tasks.push(task)
    const { targets } = edges
    if (task !== null) {
      if (task.id !== '') {
        byId.set(task.id, index)
        named += 1
      }
      if (task.assignee !== assignee) {
        if (context.executors.includes(task.assignee)) assignee = task.assignee
        else reportAssignee(task, index, context)
      }
      const { dependencies } = task
      for (let at = 0; at < dependencies.length; at += 1) {
        const target = byId.get(dependencies[at] ?? '')
        if (target === undefined) {
          waiting.push(index, at, targets.length)
          targets.push(UNKNOWN)
        } else {
          targets.push(linked(index, at, target))
        }
      }
    }
    edges.starts[index + 1] = targets.length
  }

  /** The target, or UNKNOWN for an edge that is a fault. */
  function linked(index: number, at: number, target: number): number {
    if (target !== index && lastUse[target] !== index) {
      lastUse[target] = index
      return target
    }
    reportDependency(target === index ? 'it depends on itself' : 'it lists a dependency twice', 'remove the entry', index, at)
    return UNKNOWN
  }

  function finish(): void {
    if (context.state.mixedCase || byId.size !== named) reportEqualIds(tasks, context)
    let finder: NameFinder | undefined
    for (let next = 0; next < waiting.length; next += 3) {
      const index = waiting[next] ?? 0
      const at = waiting[next + 1] ?? 0
      const edge = waiting[next + 2] ?? 0
      const dependency: unknown = tasks[index]?.dependencies[at]
      const target = typeof dependency === 'string' ? byId.get(dependency) : undefined
      if (target !== undefined) {
        edges.targets[edge] = linked(index, at, target)
      } else if (typeof dependency === 'string') {
        finder ??= nameFinder([...byId.keys()])
        reportDependency('there is no task of that id to depend on', finder.nearest(dependency), index, at)
      } else {
        reportDependency('each entry of dependencies must be the id of a task', undefined, index, at)
      }
    }
    for (const cycle of findCycles(edges, SHOWN_CYCLES)) reportCycle(cycle, tasks, context)
  }

  function reportDependency(wrong: string, suggestion: string | undefined, index: number, at: number): void {
    const task = tasks[index]
    const path = itemPath(memberPath(itemPath(context.list, index), 'dependencies'), at)
    context.faults.add(path, `Task ${quoted(task?.id ?? '')}: ${wrong}; got ${observed(task?.dependencies[at])}.`, suggestion)
  }

  return { add, finish }
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

function reportAssignee(task: TaskSpec, index: number, { list, executors, faults }: LinkContext): void {
  faults.add(
    memberPath(itemPath(list, index), 'assignee'),
    `Task ${quoted(task.id)}: no executor is named ${quoted(task.assignee)}; known executors are ${executors.join(', ')}.`,
    nameFinder(executors).nearest(task.assignee),
  )
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
