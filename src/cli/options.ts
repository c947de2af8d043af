/** Options that every command takes, and the configuration they lead to. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { readConfigFile, userConfigPath } from '../config-file.ts'
import { resolveConfig, type ConfigLayers } from '../config.ts'
import type { ConfigWithOrigins } from '../core/config-types.ts'
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
export async function configOf(options: CommonOptions): Promise<ConfigWithOrigins> {
  const user = await readConfigFile(userConfigPath(process.env, homedir()), { optional: true })
  const file = options.config === undefined ? undefined : await readConfigFile(resolve(options.config), { optional: false })
  const layers: ConfigLayers = {
    ...(user === null ? {} : { user }),
    ...(file === undefined || file === null ? {} : { file }),
    flag: { value: flagLayer(options), source: 'command line' },
  }
  return resolveConfig(layers, { cwd: process.cwd(), home: homedir(), env: process.env, surface: 'cli' })
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
