/**
 * The environment of a child: what the caller's environment gives, what OpenClaude needs to be supervised, what the configuration says, the marker.
 * Never sets `IS_SANDBOX`: that lifts a protection, so only a person or a sandbox that is really on may set it. Pure.
 */
import type { ResolvedConfig } from '../../core/config-types.ts'

/** Carried by a child and by all it starts, so that the sweep finds what descent and process groups no longer show. */
export const MARKER_NAME = 'DSH_OPENCLAUDE_LAUNCH'

/** `inherit`: all of the caller's environment. `allow-list`: the names below and `envPass` only. */
export type EnvMode = 'inherit' | 'allow-list'

type Environment = Readonly<Record<string, string | undefined>>

export interface EnvSources {
  readonly mode: EnvMode
  /** The caller's environment, usually `process.env`. */
  readonly caller: Environment
  readonly config: Pick<ResolvedConfig, 'env' | 'envPass'>
}

const ALLOWED = new Set([
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TERM', 'TMPDIR', 'TEMP', 'TMP',
  'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR',
  'OPENCLAUDE_CONFIG_DIR', 'IS_SANDBOX', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR',
  'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy',
])

/**
 * What makes OpenClaude fit for supervision: one process instead of a launcher, no command in the background,
 * `tool_progress` records, and limits of its own below our clocks, so that it heals in place first (SEMANTICS 4).
 */
export const OPENCLAUDE_DEFAULTS: Readonly<Record<string, string>> = {
  OPENCLAUDE_DISABLE_HEAP_RELAUNCH: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_CONTAINER_ID: 'dsh-openclaude',
  API_TIMEOUT_MS: '120000',
  CLAUDE_STREAM_IDLE_TIMEOUT_MS: '60000',
  OPENCLAUDE_MAX_RETRIES: '3',
}

/** Environment of an OpenClaude child, without the marker. `config.env` wins over everything. */
export function openclaudeEnv(sources: EnvSources): Record<string, string> {
  return { ...callerEnv(sources), ...OPENCLAUDE_DEFAULTS, ...sources.config.env }
}

/** Environment of a check or a `command` task: nothing of OpenClaude's in it. */
export function plainEnv(sources: EnvSources): Record<string, string> {
  return { ...callerEnv(sources), ...sources.config.env }
}

function callerEnv({ mode, caller, config }: EnvSources): Record<string, string> {
  const passed = new Set(config.envPass)
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(caller)) {
    if (value === undefined || name === MARKER_NAME) continue
    if (mode === 'inherit' || ALLOWED.has(name) || name.startsWith('LC_') || passed.has(name)) env[name] = value
  }
  return env
}
