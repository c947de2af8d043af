/**
 * Decodes one source of configuration: known keys by their schema, unknown ones with the nearest valid name or the place where
 * they belong (R-12, T24).
 */
import type { ConfigKey, ResolvedConfig } from '../core/config-types.ts'
import { isRecord } from '../core/decode-checks.ts'
import { type FaultList, memberPath } from '../core/fault-list.ts'
import { TASK_KEYS } from '../core/graph-keys.ts'
import { nameFinder } from '../core/nearest-name.ts'
import { observed, quoted } from '../core/observed.ts'
import { CONFIG_KEYS, CONFIG_SCHEMA, isConfigKey } from './keys.ts'

export type PartialConfig = { readonly [K in ConfigKey]?: ResolvedConfig[K] }

const SYNONYMS: ReadonlyMap<string, ConfigKey> = new Map<string, ConfigKey>([
  ['cwd', 'workdir'], ['concurrency', 'maxConcurrency'], ['jobs', 'maxConcurrency'], ['retries', 'maxRetriesPerTask'], [
    'maxAttempts', 'maxRetriesPerTask',
  ],
  ['maxSteps', 'maxTurns'], ['budget', 'maxBudgetUsd'], ['timeoutMs', 'maxRuntimeMs'], ['command', 'executable'], ['args', 'extraArgs'],
])

/** Keys with the value undefined count as not written, so that options of a command line can be passed as they are. */
export function decodeLayer(value: unknown, source: string, faults: FaultList): PartialConfig {
  if (value === undefined || value === null) return {}
  if (!isRecord(value)) {
    faults.add('$', `${source}: the configuration must be an object of keys; got ${observed(value)}.`)
    return {}
  }
  const decoded: { [K in ConfigKey]?: ResolvedConfig[K] } = {}
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    if (isConfigKey(key)) decodeKey(key, item, source, faults, decoded)
    else reportUnknownKey(key, item, source, faults)
  }
  return decoded
}

function decodeKey<K extends ConfigKey>(
  key: K, value: unknown, source: string, faults: FaultList, decoded: { [P in ConfigKey]?: ResolvedConfig[P] },
): void {
  const path = memberPath('$', key)
  if (value === null) {
    faults.add(path, `${source}: ${key} has no value; leave the key out for the default.`)
    return
  }
  const result = CONFIG_SCHEMA[key].decode(value, {
    key,
    path,
    report: (wrong, facts = {}) => faults.add(
      facts.path ?? path, `${source}: ${key}${wrong.startsWith(':') ? '' : ' '}${wrong}.`, facts.suggestion,
    ),
  })
  if (result === null) reportMisplaced(key, value, source, faults)
  else decoded[key] = result
}

function reportUnknownKey(key: string, value: unknown, source: string, faults: FaultList): void {
  if (reportMisplaced(key, value, source, faults)) return
  const path = memberPath('$', key)
  if (TASK_KEYS.some(known => known === key) && !SYNONYMS.has(key)) {
    faults.add(path, `${source}: ${quoted(key)} is no configuration key; it belongs to a task of the graph file.`)
    return
  }
  faults.add(path, `${source}: ${quoted(key)} is no configuration key.`, SYNONYMS.get(key) ?? nameFinder(CONFIG_KEYS).nearest(key))
}

/** Reports configuration keys found one level too deep; true when there were some. */
function reportMisplaced(outer: string, value: unknown, source: string, faults: FaultList): boolean {
  if (!isRecord(value)) return false
  let found = false
  for (const inner of Object.keys(value)) {
    const joined = `${outer}${inner.charAt(0).toUpperCase()}${inner.slice(1)}`
    const meant = isConfigKey(joined) ? joined : isConfigKey(inner) ? inner : undefined
    if (meant === undefined) continue
    found = true
    const path = memberPath(memberPath('$', outer), inner)
    faults.add(path, `${source}: ${quoted(`${outer}.${inner}`)} is one level too deep; write ${meant} at the top level.`, meant)
  }
  return found
}
