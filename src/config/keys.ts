/** All configuration keys in their order for people. The compiler checks that they are exactly those of `ResolvedConfig`. */
import type { ConfigKey, ResolvedConfig } from '../core/config-types.ts'
import { CHILD_KEYS } from './child-keys.ts'
import { CLOCK_KEYS, RUN_KEYS } from './clock-keys.ts'
import { JUDGE_KEYS } from './judge-keys.ts'
import type { KeySpec } from './key-spec.ts'

export type ConfigSchema = { readonly [K in ConfigKey]: KeySpec<ResolvedConfig[K]> }

export const CONFIG_SCHEMA: ConfigSchema = { ...CHILD_KEYS, ...CLOCK_KEYS, ...RUN_KEYS, ...JUDGE_KEYS }

export const CONFIG_KEYS: readonly ConfigKey[] = Object.keys(CONFIG_SCHEMA).filter(isConfigKey)

export function isConfigKey(key: string): key is ConfigKey {
  return Object.hasOwn(CONFIG_SCHEMA, key)
}
