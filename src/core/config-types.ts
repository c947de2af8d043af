/**
 * The resolved configuration: complete, readonly, cross-checked. Types only, so that every folder may read it;
 * the schema, its defaults and `resolveConfig` are `../config.ts`.
 */

export const CONFIG_ORIGINS = ['default', 'user', 'row', 'file', 'flag', 'graph'] as const
export type ConfigOrigin = (typeof CONFIG_ORIGINS)[number]

export interface ExtraCommand {
  readonly name: string
  readonly command: string
  readonly timeoutMs?: number
  readonly required?: boolean
  readonly parallel?: boolean
}

export interface ResolvedConfig {
  // The child
  /** A name on PATH, an absolute path, or a command with arguments. */
  readonly executable: readonly string[]
  readonly workdir: string
  readonly provider: string
  readonly model: string
  readonly maxTurns: number
  /** Empty = unattended. */
  readonly permissionMode: string
  readonly extraArgs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Names of variables passed on from the caller where the environment is an allow-list. */
  readonly envPass: readonly string[]
  readonly addDirs: readonly string[]
  readonly appendSystemPrompt: string
  readonly noSessionPersistence: boolean
  readonly keepSessions: boolean
  /** Empty = no heartbeat, the event-loop clock is off. */
  readonly heartbeat: string

  // The clocks, SEMANTICS 4; milliseconds
  readonly firstEventTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly toolTimeoutMs: number
  readonly agentToolTimeoutMs: number
  readonly backgroundTimeoutMs: number
  readonly settleTimeoutMs: number
  readonly maxRuntimeMs: number
  readonly killGraceMs: number
  /** `dry-run`: the watchdog says what it would end and ends nothing. */
  readonly watchdog: 'enforce' | 'dry-run'
  readonly maxStalledRestarts: number
  readonly maxStreamBytes: number
  readonly maxLineBytes: number
  readonly onEngineDeath: 'adopt' | 'end'

  // The run
  readonly maxConcurrency: number
  readonly maxRetriesPerTask: number
  readonly maxReworks: number
  readonly maxSupervisionRounds: number
  /** US dollars; 0 = no limit. */
  readonly maxBudgetUsd: number
  /** 0 = no limit. */
  readonly maxBudgetTokens: number
  readonly workspace: 'shared'
  readonly stateDir: string
  readonly storePath: string
  readonly persistence: boolean

  // Context and prompts
  readonly contextStrategy: 'full' | 'minimal' | 'repo-map'
  readonly contextMaxTokens: number

  // The judge
  readonly test: string
  readonly lint: string
  readonly typecheck: string
  readonly build: string
  readonly additionalCommands: readonly ExtraCommand[]
  readonly acceptanceTimeoutMs: number
  /** Empty = from the lockfile. */
  readonly packageManager: '' | 'npm' | 'pnpm' | 'yarn' | 'bun'
  readonly acceptUnverified: boolean

  // The advisor
  readonly supervisorEnabled: boolean
  /** `none`: policy only. `openclaude`: OpenClaude in print mode without tools. `host`: the host's model (DSH). */
  readonly supervisor: 'none' | 'openclaude' | 'host'
  readonly supervisorProvider: string
  readonly supervisorModel: string
  readonly supervisorMaxTokens: number
  readonly supervisorTemperature: number
  readonly supervisorTimeoutMs: number
  readonly patchMode: 'suggest' | 'auto'
}

export type ConfigKey = keyof ResolvedConfig

export interface ConfigWithOrigins {
  readonly config: ResolvedConfig
  readonly origins: Readonly<Record<ConfigKey, ConfigOrigin>>
  readonly warnings: readonly string[]
}
