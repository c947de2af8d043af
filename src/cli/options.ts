/** Options that every command takes, and the configuration they lead to. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { userConfigPath } from '../config/config-paths.ts'
import { resolveConfig, type ConfigLayers } from '../config.ts'
import type { ConfigWithOrigins } from '../core/config-types.ts'
import { readConfigFile, readOptionalConfigFile } from '../engine/documents/config-file.ts'
import { OpenClaudeError } from '../errors.ts'

export interface CommonOptions {
  readonly workdir?: string
  readonly config?: string
  readonly stateDir?: string
  readonly executable?: string
  readonly maxConcurrency?: string
  readonly set?: readonly string[]
  readonly json?: boolean
}

/** @throws OC_CONFIG_INVALID with all faults of all layers; OC_USAGE for a `--set` that is no `key=value`. */
export function configOf(options: CommonOptions): ConfigWithOrigins {
  const context = { cwd: process.cwd(), home: homedir(), env: process.env }
  const layers: ConfigLayers = {
    user: readOptionalConfigFile(userConfigPath(context)),
    file: options.config === undefined ? undefined : readConfigFile(resolve(options.config)),
    flag: { value: flagLayer(options), source: 'command line' },
  }
  return resolveConfig(layers, { ...context, surface: 'cli' })
}

function flagLayer(options: CommonOptions): Record<string, unknown> {
  const layer: Record<string, unknown> = {}
  for (const pair of options.set ?? []) {
    const equals = pair.indexOf('=')
    if (equals < 1) {
      throw new OpenClaudeError('OC_USAGE', `--set ${pair}: expected key=value.`, { subject: '--set', fix: 'For example: --set idleTimeoutMs=300000' })
    }
    layer[pair.slice(0, equals)] = parse(pair.slice(equals + 1))
  }
  if (options.workdir !== undefined) layer['workdir'] = options.workdir
  if (options.stateDir !== undefined) layer['stateDir'] = resolve(options.stateDir)
  if (options.executable !== undefined) layer['executable'] = options.executable
  if (options.maxConcurrency !== undefined) layer['maxConcurrency'] = numberOr(options.maxConcurrency)
  return layer
}

/** A text that is no number is passed on as it is: the schema names the rule. */
function numberOr(text: string): unknown {
  const value = Number(text)
  return Number.isFinite(value) && text.trim() !== '' ? value : text
}
