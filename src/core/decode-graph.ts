/**
 * From an unknown value to a validated graph, or to all its faults together (R-53, T24). Pure; reading text and positions in it are
 * `../engine/documents/graph-file.ts`. Past this point nobody checks a graph again.
 */
import type { Fault } from '../errors.ts'
import { isRecord } from './decode-checks.ts'
import { decodeTask } from './decode-task.ts'
import { type FaultList, faultList, memberPath } from './fault-list.ts'
import { BUILT_IN_EXECUTORS, CONFIG_ONLY_KEYS, GRAPH_KEYS, TASK_KEYS } from './graph-keys.ts'
import { graphLinker } from './graph-links.ts'
import type { Graph, TaskSpec } from './graph-types.ts'
import { nameFinder } from './nearest-name.ts'
import { observed, quoted } from './observed.ts'
import { text } from './value-rules.ts'

export interface DecodeGraphOptions {
  /** Names a task may be assigned to; default `openclaude` and `command`. */
  readonly executors?: readonly string[]
  /** False for a graph that a model wrote: checks and command tasks are refused until a person approved it (SEMANTICS 12). */
  readonly trusted: boolean
}

export type DecodedGraph =
  | { readonly kind: 'graph', readonly graph: Graph }
  | { readonly kind: 'faults', readonly faults: readonly Fault[] }

/** Decodes a list of tasks or an object with `tasks`. The graph shares the lists of `value`, which must not change afterwards. */
export function decodeGraph(value: unknown, options: DecodeGraphOptions): DecodedGraph {
  const faults = faultList()
  const list = Array.isArray(value) ? '$' : '$.tasks'
  const items = taskList(value, faults)
  const tasks: (TaskSpec | null)[] = []
  const context = { list, faults, trusted: options.trusted, mixedCase: false }
  const linker = graphLinker(items.length, { list, faults, executors: options.executors ?? BUILT_IN_EXECUTORS, state: context })
  for (let index = 0; index < items.length; index += 1) {
    const task = decodeTask(items[index], index, context)
    tasks.push(task)
    linker.add(task, index)
  }
  linker.finish()
  return faults.count() === 0 && isComplete(tasks) ? { kind: 'graph', graph: { tasks } } : { kind: 'faults', faults: faults.all() }
}

function isComplete(tasks: readonly (TaskSpec | null)[]): tasks is readonly TaskSpec[] {
  return !tasks.includes(null)
}

function taskList(value: unknown, faults: FaultList): readonly unknown[] {
  if (Array.isArray(value)) {
    if (value.length === 0) faults.add('$', EMPTY)
    return value
  }
  if (!isRecord(value)) {
    faults.add('$', `A graph must be a list of tasks or an object with tasks; got ${observed(value)}.`)
    return []
  }
  checkMetadata(value, faults)
  const tasks = value['tasks']
  if (!Array.isArray(tasks)) {
    if (tasks === undefined) faults.add('$', `The graph has no tasks; got ${observed(value)}.`, missingTasks(value))
    else faults.add('$.tasks', `tasks must be a list of tasks; got ${observed(tasks)}.`)
    return []
  }
  if (tasks.length === 0) faults.add('$.tasks', EMPTY)
  return tasks
}

const EMPTY = 'The list of tasks is empty; a graph needs at least one task.'

function checkMetadata(graph: Record<string, unknown>, faults: FaultList): void {
  for (const key of Object.keys(graph)) {
    if (GRAPH_KEYS.some(known => known === key)) continue
    const path = memberPath('$', key)
    const reason = CONFIG_ONLY_KEYS.get(key)
    if (reason !== undefined) {
      faults.add(path, `The graph: ${key} can't be set by a graph, since it ${reason}. Set it in the configuration or on the command line.`)
    } else if (isTaskKey(key)) {
      faults.add(path, `The graph: ${quoted(key)} is one level too high; it belongs into a task.`, `tasks[…].${key}`)
    } else {
      faults.add(
        path, `The graph: ${quoted(key)} is no key of a graph; known are ${GRAPH_KEYS.join(', ')}.`, nameFinder(GRAPH_KEYS).nearest(key),
      )
    }
  }
  for (const key of ['$schema', 'name', 'description'] as const) {
    const wrong = graph[key] === undefined ? null : text(graph[key])
    if (wrong !== null) faults.add(memberPath('$', key), `The graph: ${key} ${wrong}; got ${observed(graph[key])}.`)
  }
  const version = graph['version']
  if (version !== undefined && typeof version !== 'number' && text(version) !== null) {
    faults.add('$.version', `The graph: version must be text or a number; got ${observed(version)}.`)
  }
}

function missingTasks(graph: Record<string, unknown>): string {
  return graph['id'] === undefined ? '{ "tasks": [ … ] }' : '{ "tasks": [ { "id": … } ] }'
}

function isTaskKey(key: string): boolean {
  return TASK_KEYS.some(known => known === key)
}
