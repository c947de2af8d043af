/**
 * The configuration: from what people wrote in up to three places to one complete, cross-checked, frozen value with the origin of each key.
 * The keys are `config/keys.ts`. Reads no file by itself, and never one found in the repository (SEMANTICS 12).
 */
import { applyCrossRules, type CrossRules } from './config/cross-rules.ts'
import { type PathContext, resolvePaths } from './config/config-paths.ts'
import { decodeLayer } from './config/decode-layer.ts'
import type { Surface } from './config/key-spec.ts'
import { CONFIG_KEYS, CONFIG_SCHEMA } from './config/keys.ts'
import type { ConfigKey, ConfigOrigin, ConfigWithOrigins, ResolvedConfig } from './core/config-types.ts'
import { type FaultList, faultList, memberPath } from './core/fault-list.ts'
import { faultCount, listFaults } from './core/show-faults.ts'
import { type Fault, OpenClaudeError } from './errors.ts'

export interface ConfigLayer {
  readonly value: unknown
  /** Names the source in messages: a path, `command line`, `row openclaude`. */
  readonly source: string
  /** Adds line and column, when the value was read from a text. */
  readonly locate?: (faults: readonly Fault[]) => readonly Fault[]
}

/** `user` exists only for the command, `row` only in DSH. Later ones win, key by key. */
export interface ConfigLayers {
  readonly user?: ConfigLayer | undefined
  readonly row?: ConfigLayer | undefined
  readonly file?: ConfigLayer | undefined
  readonly flag?: ConfigLayer | undefined
}

export interface ConfigContext extends PathContext {
  readonly surface: Surface
}

const PRECEDENCE = ['user', 'row', 'file', 'flag'] as const

/** Throws `OC_CONFIG_INVALID` with the faults of all layers together. Paths come out absolute; whether they exist is not checked here. */
export function resolveConfig(layers: ConfigLayers, context: ConfigContext): ConfigWithOrigins {
  if (layers[context.surface === 'cli' ? 'row' : 'user'] !== undefined) {
    throw new OpenClaudeError(
      'OC_INTERNAL', 'The user file belongs to the command and the row to DSH; a layer of the other surface was passed.',
    )
  }
  const config = { ...defaultConfig(context.surface) }
  const origins = defaultOrigins()
  const found: { readonly origin: ConfigOrigin, readonly layer: ConfigLayer, readonly faults: FaultList }[] = []
  for (const origin of PRECEDENCE) {
    const layer = layers[origin]
    if (layer === undefined) continue
    const faults = faultList()
    found.push({ origin, layer, faults })
    const written = decodeLayer(layer.value, layer.source, faults)
    Object.assign(config, written)
    for (const key of CONFIG_KEYS) if (written[key] !== undefined) origins[key] = origin
  }
  const warnings: string[] = []
  const rules: CrossRules = {
    config,
    origins,
    warn: message => void warnings.push(message),
    fault(key, wrong, suggestion) {
      const winner = found.find(({ origin }) => origin === origins[key]) ?? found.at(-1)
      winner?.faults.add(memberPath('$', key), `${winner.layer.source}: ${key} ${wrong}.`, suggestion)
    },
  }
  resolvePaths(rules, context)
  applyCrossRules(rules, context.surface)
  const faults = found.flatMap(({ layer, faults: own }) => own.count() === 0 ? [] : layer.locate?.(own.all()) ?? own.all())
  if (faults.length > 0) {
    throw new OpenClaudeError('OC_CONFIG_INVALID', `The configuration has ${faultCount(faults)}${listFaults(faults)}`, {
      subject: 'configuration', fix: 'Correct every listed place; "config explain" shows where each value comes from.', faults,
    })
  }
  return deepFreeze({ config, origins, warnings })
}

/** The defaults as the schema has them, before folders are made absolute and cross rules applied. */
export function defaultConfig(surface: Surface): ResolvedConfig {
  const config: Record<string, unknown> = {}
  for (const key of CONFIG_KEYS) config[key] = CONFIG_SCHEMA[key].fallback(surface)
  return config as unknown as ResolvedConfig
}

function defaultOrigins(): Record<ConfigKey, ConfigOrigin> {
  return Object.fromEntries(CONFIG_KEYS.map(key => [key, 'default'])) as Record<ConfigKey, ConfigOrigin>
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}
