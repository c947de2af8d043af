/**
 * Decodes one task of a graph. Runs 100,000 times per load, so the good case makes no path, no message and no copy of a list.
 * Does not look at other tasks: unique ids, known dependencies, executors and cycles are `graph-links.ts`.
 */
import { decodeChecks, decodeGlobs, decodeTimeouts, isRecord, type Place } from './decode-checks.ts'
import { type FaultList, itemPath, memberPath } from './fault-list.ts'
import { COMMAND_ASSIGNEE, CONFIG_ONLY_KEYS, DEFAULT_ASSIGNEE, TASK_KEY_SYNONYMS, TASK_KEYS, TIMEOUT_KEYS } from './graph-keys.ts'
import type { TaskSpec } from './graph-types.ts'
import { nameFinder } from './nearest-name.ts'
import { observed, quoted } from './observed.ts'
import { isLowerTaskId, isTaskId, repairTaskId, TASK_ID_RULE } from './task-id.ts'
import { argumentText, commandLine, finiteNumber, hasNul, NUL_REFUSED, type Rule, wholeNumber } from './value-rules.ts'

export interface TaskContext {
  /** JSON path of the list the tasks are in. */
  readonly list: string
  readonly faults: FaultList
  /** False for a graph that a model wrote: it may not bring commands (SEMANTICS 12). */
  readonly trusted: boolean
  /** Set when an id holds upper-case letters. */
  mixedCase: boolean
}

type Fields = Record<string, unknown>
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const KNOWN_KEYS: ReadonlySet<string> = new Set(TASK_KEYS)
const NONE: readonly never[] = Object.freeze([])
const KEY_FINDER = nameFinder(TASK_KEYS, Number.MAX_SAFE_INTEGER)
const ATTEMPTS_RULE = wholeNumber(1)
const TESTS_RULE = wholeNumber(0)
const COMMAND_FIX = 'a graph written by a model may not bring commands until a person has approved it'

/** Returns the task with its defaults; null when it is no object. A task with faults still comes back, so that its links can be checked. */
export function decodeTask(value: unknown, index: number, context: TaskContext): TaskSpec | null {
  if (!isRecord(value)) {
    context.faults.add(itemPath(context.list, index), `A task must be an object with at least an id; got ${observed(value)}.`)
    return null
  }
  for (const key in value) if (!KNOWN_KEYS.has(key)) reportUnknownKey(value, key, index, context)
  const id = value['id']
  if (typeof id !== 'string' || !isLowerTaskId(id)) decodeOtherId(id, value, index, context)
  const known = typeof id === 'string' ? id : ''
  const assignee = textField(value, 'assignee', DEFAULT_ASSIGNEE, index, context)
  const task: Mutable<TaskSpec> = {
    id: known,
    title: textField(value, 'title', known, index, context),
    description: textField(value, 'description', '', index, context),
    acceptanceCriteria: criteria(value, index, context),
    dependencies: dependencies(value, index, context),
    priority: value['priority'] === undefined ? 0 : numberField(value, 'priority', finiteNumber, index, context),
    assignee,
  }
  if (value['command'] !== undefined || assignee === COMMAND_ASSIGNEE) addCommand(task, value, index, context)
  if (value['checks'] !== undefined) addChecks(task, value, index, context)
  if (value['model'] !== undefined) {
    const { model } = value
    const wrong = argumentText(model)
    if (wrong !== null) report(value, 'model', wrong, index, context)
    else if (typeof model === 'string') task.model = model
  }
  if (value['timeouts'] !== undefined) task.timeouts = decodeTimeouts(value['timeouts'], placeOf(value, 'timeouts', index, context))
  if (value['maxAttempts'] !== undefined) task.maxAttempts = numberField(value, 'maxAttempts', ATTEMPTS_RULE, index, context)
  if (value['paths'] !== undefined) task.paths = decodeGlobs('paths', value['paths'], placeOf(value, 'paths', index, context))
  if (value['mayEdit'] !== undefined) task.mayEdit = decodeGlobs('mayEdit', value['mayEdit'], placeOf(value, 'mayEdit', index, context))
  if (value['expectTests'] !== undefined) task.expectTests = numberField(value, 'expectTests', TESTS_RULE, index, context)
  return task
}

function decodeOtherId(id: unknown, task: Fields, index: number, context: TaskContext): void {
  if (typeof id !== 'string' || !isTaskId(id)) reportId(id, task, index, context)
  context.mixedCase = true
}

function textField(task: Fields, key: string, otherwise: string, index: number, context: TaskContext): string {
  const value = task[key]
  if (value === undefined) return otherwise
  if (typeof value === 'string' && !hasNul(value)) return value
  report(task, key, typeof value === 'string' ? NUL_REFUSED : 'must be text', index, context)
  return otherwise
}

function numberField(task: Fields, key: string, rule: Rule, index: number, context: TaskContext): number {
  const wrong = rule(task[key])
  if (wrong !== null) report(task, key, wrong, index, context)
  return Number(task[key])
}

function criteria(task: Fields, index: number, context: TaskContext): readonly string[] {
  const value = task['acceptanceCriteria']
  if (value === undefined) return NONE
  if (typeof value === 'string') return textField(task, 'acceptanceCriteria', '', index, context) === '' ? NONE : [value]
  if (!Array.isArray(value)) {
    report(task, 'acceptanceCriteria', 'must be text or a list of texts', index, context)
    return NONE
  }
  for (let at = 0; at < value.length; at += 1) {
    const item: unknown = value[at]
    if (typeof item === 'string' && !hasNul(item)) continue
    const path = itemPath(memberPath(itemPath(context.list, index), 'acceptanceCriteria'), at)
    const wrong = typeof item === 'string' ? NUL_REFUSED : 'must be text'
    context.faults.add(path, `${subjectOf(task, index)}: each entry of acceptanceCriteria ${wrong}; got ${observed(item)}.`)
  }
  return value
}

function dependencies(task: Fields, index: number, context: TaskContext): readonly string[] {
  const value = task['dependencies']
  if (value === undefined) return NONE
  // What stands in the list is checked with the other tasks at hand, in graph-links.ts.
  if (Array.isArray(value)) return value
  report(task, 'dependencies', 'must be a list of task ids', index, context)
  return NONE
}

function addCommand(task: Mutable<TaskSpec>, value: Fields, index: number, context: TaskContext): void {
  const command = value['command']
  if (task.assignee !== COMMAND_ASSIGNEE) {
    const path = memberPath(itemPath(context.list, index), 'command')
    context.faults.add(
      path,
      `${subjectOf(value, index)}: command is only for the executor "command", but the assignee is ${quoted(task.assignee)}.`,
      '"assignee": "command"',
    )
    return
  }
  const wrong = command === undefined ? 'is missing; a task with the assignee "command" must say what to run' : commandLine(command)
  if (wrong !== null) report(value, 'command', wrong, index, context)
  if (!context.trusted) report(value, 'assignee', `must not be "command": ${COMMAND_FIX}`, index, context)
  if (typeof command === 'string') task.command = command
}

function addChecks(task: Mutable<TaskSpec>, value: Fields, index: number, context: TaskContext): void {
  if (!context.trusted) report(value, 'checks', `must be left out: ${COMMAND_FIX}`, index, context)
  task.checks = decodeChecks(value['checks'], placeOf(value, 'checks', index, context))
}

function reportId(id: unknown, task: Fields, index: number, context: TaskContext): void {
  const path = memberPath(itemPath(context.list, index), 'id')
  const where = `Task ${index + 1}`
  if (id === undefined) context.faults.add(path, `${where}: id is missing; every task needs one.`, idFromTitle(task['title']))
  else if (typeof id === 'string') {
    context.faults.add(path, `${where}: the id ${quoted(id)} breaks the rule: it ${TASK_ID_RULE}.`, repairTaskId(id))
  } else {
    context.faults.add(
      path, `${where}: id must be text; got ${observed(id)}.`, typeof id === 'number' ? JSON.stringify(String(id)) : undefined,
    )
  }
}

function idFromTitle(title: unknown): string | undefined {
  return typeof title === 'string' ? repairTaskId(title.toLowerCase()) : undefined
}

function reportUnknownKey(task: Fields, key: string, index: number, context: TaskContext): void {
  const path = memberPath(itemPath(context.list, index), key)
  const subject = subjectOf(task, index)
  const reason = CONFIG_ONLY_KEYS.get(key)
  if (reason !== undefined) {
    context.faults.add(
      path, `${subject}: ${key} can't be set by a graph, since it ${reason}. Set it in the configuration or on the command line.`,
    )
  } else if (Object.hasOwn(TIMEOUT_KEYS, key)) {
    context.faults.add(path, `${subject}: ${key} is one level too high; the clocks of a task stand in timeouts.`, `timeouts.${key}`)
  } else {
    context.faults.add(
      path,
      `${subject}: ${quoted(key)} is no key of a task; known are ${TASK_KEYS.join(', ')}.`,
      TASK_KEY_SYNONYMS.get(key) ?? KEY_FINDER.nearest(key),
    )
  }
}

function report(task: Fields, key: string, rule: string, index: number, context: TaskContext): void {
  context.faults.add(memberPath(itemPath(context.list, index), key), `${subjectOf(task, index)}: ${key} ${rule}${got(task[key])}.`)
}

function got(value: unknown): string {
  if (value === undefined) return ''
  return `; got ${observed(value)}${value === null ? ' (leave the key out for the default)' : ''}`
}

function placeOf(task: Fields, key: string, index: number, context: TaskContext): Place {
  return { subject: subjectOf(task, index), path: memberPath(itemPath(context.list, index), key), faults: context.faults }
}

function subjectOf(task: Fields, index: number): string {
  return typeof task['id'] === 'string' ? `Task ${quoted(task['id'])}` : `Task ${index + 1}`
}
