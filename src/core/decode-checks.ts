/** Decodes the parts of a task that are small trees of their own: checks, timeouts, globs. Only reached by tasks that have them. */
import { CHECK_ROLES, type CheckRole, type CheckSpec, type TaskTimeouts } from './graph-types.ts'
import { CHECK_KEYS, TIMEOUT_KEYS } from './graph-keys.ts'
import { type FaultList, itemPath, memberPath } from './fault-list.ts'
import { nameFinder } from './nearest-name.ts'
import { observed } from './observed.ts'
import { CHECK_NAME, commandLine, flag, milliseconds, type Rule, treeGlob } from './value-rules.ts'

export interface Place {
  /** Names the thing in messages, for example `task "impl"`. */
  readonly subject: string
  readonly path: string
  readonly faults: FaultList
}

const CHECK_NAME_RULE = 'must start with a letter or digit, go on with letters, digits, ".", "_", ":" or "-", '
  + 'and have at most 64 characters'

export function decodeChecks(value: unknown, place: Place): readonly (CheckRole | CheckSpec)[] {
  if (!Array.isArray(value)) {
    place.faults.add(
      place.path, `${place.subject}: checks must be a list of role names (${CHECK_ROLES.join(', ')}) and commands; got ${observed(value)}.`,
    )
    return []
  }
  const checks: (CheckRole | CheckSpec)[] = []
  const seen = new Map<string, number>()
  value.forEach((item: unknown, index) => {
    const path = itemPath(place.path, index)
    const check = typeof item === 'string' ? decodeRole(item, { ...place, path }) : decodeCheck(item, { ...place, path })
    if (check === null) return
    const name = typeof check === 'string' ? check : check.name
    const first = seen.get(name)
    if (first === undefined) seen.set(name, index)
    else {
      place.faults.add(
        path,
        `${place.subject}: two checks are named ${observed(name)}, first ${itemPath(place.path, first)}; a name stands for one check.`,
      )
    }
    checks.push(check)
  })
  return checks
}

function decodeRole(name: string, place: Place): CheckRole | null {
  const role = CHECK_ROLES.find(known => known === name)
  if (role !== undefined) return role
  place.faults.add(
    place.path,
    `${place.subject}: ${observed(name)} is no check role; a bare name is one of ${CHECK_ROLES.join(', ')}, `
    + 'a command is written { name, command }.',
    nameFinder(CHECK_ROLES).nearest(name) ?? `{ "name": "extra", "command": ${JSON.stringify(name.slice(0, 60))} }`,
  )
  return null
}

/** Decodes `{ name, command, timeoutMs?, required?, parallel? }`; the configuration's extra commands have the same shape. */
export function decodeCheck(value: unknown, place: Place): CheckSpec | null {
  if (!isRecord(value)) {
    place.faults.add(
      place.path, `${place.subject}: a check must be a role name or an object with name and command; got ${observed(value)}.`,
    )
    return null
  }
  const before = place.faults.count()
  reportUnknownKeys(value, CHECK_KEYS, 'a check', place)
  const name = typeof value['name'] === 'string' && CHECK_NAME.test(value['name']) ? value['name'] : null
  if (name === null) {
    place.faults.add(
      memberPath(place.path, 'name'), `${place.subject}: the name of a check ${CHECK_NAME_RULE}; got ${observed(value['name'])}.`,
    )
  }
  requireRule(value, 'command', commandLine, place)
  checkRule(value, 'timeoutMs', milliseconds('refused'), place)
  checkRule(value, 'required', flag, place)
  checkRule(value, 'parallel', flag, place)
  const { command } = value
  return name === null || typeof command !== 'string' || place.faults.count() !== before ? null : { ...value, name, command }
}

export function decodeTimeouts(value: unknown, place: Place): TaskTimeouts {
  if (!isRecord(value)) {
    place.faults.add(place.path, `${place.subject}: timeouts must be an object of clocks in milliseconds; got ${observed(value)}.`)
    return {}
  }
  reportUnknownKeys(value, Object.keys(TIMEOUT_KEYS), 'timeouts', place)
  for (const [key, zero] of Object.entries(TIMEOUT_KEYS)) checkRule(value, key, milliseconds(zero), place)
  return value
}

export function decodeGlobs(key: string, value: unknown, place: Place): readonly string[] {
  if (!Array.isArray(value)) {
    place.faults.add(place.path, `${place.subject}: ${key} must be a list of file patterns; got ${observed(value)}.`)
    return []
  }
  value.forEach((item: unknown, index) => {
    const wrong = treeGlob(item)
    if (wrong !== null) {
      place.faults.add(itemPath(place.path, index), `${place.subject}: a pattern of ${key} ${wrong}; got ${observed(item)}.`)
    }
  })
  return value
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function reportUnknownKeys(value: Record<string, unknown>, known: readonly string[], owner: string, place: Place): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    place.faults.add(
      memberPath(place.path, key),
      `${place.subject}: ${observed(key)} is no key of ${owner}; known are ${known.join(', ')}.`,
      nameFinder(known).nearest(key),
    )
  }
}

function requireRule(record: Record<string, unknown>, key: string, rule: Rule, place: Place): void {
  const wrong = rule(record[key])
  if (wrong !== null) place.faults.add(memberPath(place.path, key), `${place.subject}: ${key} ${wrong}; got ${observed(record[key])}.`)
}

function checkRule(record: Record<string, unknown>, key: string, rule: Rule, place: Place): void {
  if (record[key] !== undefined) requireRule(record, key, rule, place)
}
