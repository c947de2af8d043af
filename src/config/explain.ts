/** What `config explain` shows: every key with its value and where the value comes from. Values of variables are never shown. */
import type { ConfigKey, ConfigOrigin, ConfigWithOrigins } from '../core/config-types.ts'
import { CONFIG_KEYS } from './keys.ts'

export interface ExplainedKey {
  readonly key: ConfigKey
  /** As JSON; of `env` only the names. */
  readonly value: string
  readonly origin: ConfigOrigin
}

export function explainConfig({ config, origins }: ConfigWithOrigins): readonly ExplainedKey[] {
  return CONFIG_KEYS.map(key => ({
    key,
    value: key === 'env' ? maskedEnv(config.env) : JSON.stringify(config[key]),
    origin: origins[key],
  }))
}

function maskedEnv(env: Readonly<Record<string, string>>): string {
  return `{${Object.keys(env).map(name => `${JSON.stringify(name)}:"***"`).join(',')}}`
}
