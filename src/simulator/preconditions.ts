/**
 * What OpenClaude refuses before any model is asked: combinations of flags, missing files, root without a sandbox, unknown or taken sessions.
 * Each rule gives the measured stderr line; all of them end with exit 1 and an empty stdout.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { Flags } from './command-line.ts'
import type { Setup } from './scenario.ts'
import type { SimEnv } from './scenario-source.ts'
import { isStored, lastSession } from './session-store.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu

const PROVIDERS = ['anthropic', 'bankr', 'zai', 'xai', 'xiaomi-mimo', 'openai', 'gemini', 'mistral', 'github', 'bedrock', 'vertex', 'ollama', 'nvidia-nim',
  'minimax', 'venice', 'atlas-cloud', 'nearai', 'fireworks', 'longcat', 'aimlapi', 'apismart', 'atomic-chat', 'azure-openai', 'clinepass', 'cloudflare',
  'concentrate', 'custom', 'custom-anthropic', 'dashscope-cn', 'dashscope-intl', 'deepseek', 'github-enterprise', 'gitlawb-opengateway', 'groq', 'hicap',
  'kimi-code', 'lmstudio', 'moonshot', 'moonshotai', 'opencode', 'opencode-go', 'openrouter', 'together', 'xiaomi-mimo-token']

export const NO_PROMPT = 'Error: Input must be provided either through stdin or as a prompt argument when using --print'
const ROOT_BYPASS = 'Permission-bypass flags/modes (e.g. --dangerously-skip-permissions / --yolo, --allow-dangerously-skip-permissions, or fullAccess mode) '
  + 'cannot be used with user/sudo privileges for security reasons'

/** The first rule that refuses, as its stderr text; null = go on. */
export function refusal(flags: Flags, env: SimEnv, uid: number): string | null {
  return providerRefusal(flags, env) ?? flagRefusal(flags) ?? fileRefusal(flags) ?? rootRefusal(flags, env, uid)
}

function providerRefusal(flags: Flags, env: SimEnv): string | null {
  if (flags.provider === undefined) return null
  if (!PROVIDERS.includes(flags.provider)) return `Error: Unknown provider "${flags.provider}". Valid providers: ${PROVIDERS.join(', ')}`
  if (flags.provider === 'nvidia-nim' && (env['NVIDIA_API_KEY'] ?? '') === '') return 'NVIDIA_API_KEY is required when using NVIDIA NIM.'
  return null
}

function flagRefusal(flags: Flags): string | null {
  if (flags.heartbeatMs !== undefined && !flags.print) return 'Error: --heartbeat can only be used with --print.'
  if (!flags.print) return 'openclaude-sim plays only --print'
  const resumes = flags.resume !== undefined || flags.continue
  if (flags.sessionId !== undefined && resumes && !flags.forkSession) {
    return 'Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.'
  }
  if (flags.sessionId !== undefined && !UUID.test(flags.sessionId)) return 'Error: Invalid session ID. Must be a valid UUID.'
  if (flags.outputFormat === 'stream-json' && !flags.verbose) return 'Error: When using --print, --output-format=stream-json requires --verbose'
  if (flags.resume !== undefined && (flags.resume === true || !UUID.test(flags.resume))) return notUuid(flags.resume)
  return null
}

function notUuid(value: string | true): string {
  const usage = 'Error: --resume requires a valid session ID when used with --print. Usage: openclaude -p --resume <session-id>.'
  return value === true ? usage : `${usage} Session IDs must be in UUID format (e.g., ${randomUUID()}). Provided value "${value}" is not a valid UUID`
}

function fileRefusal(flags: Flags): string | null {
  if (flags.settings !== undefined && !isJsonText(flags.settings) && !existsSync(flags.settings)) return `Error: Settings file not found: ${flags.settings}`
  const missing = flags.mcpConfig.filter(config => !isJsonText(config) && !existsSync(config))
  if (missing.length > 0) return `Error: Invalid MCP configuration:\n${missing.map(path => `MCP config file not found: ${path}`).join('\n')}`
  return null
}

function rootRefusal(flags: Flags, env: SimEnv, uid: number): string | null {
  const bypass = flags.bypass || flags.permissionMode === 'bypassPermissions' || flags.permissionMode === 'fullAccess'
  const boxed = env['IS_SANDBOX'] === '1' || (env['CLAUDE_CODE_BUBBLEWRAP'] ?? '') !== ''
  return bypass && uid === 0 && !boxed ? ROOT_BYPASS : null
}

export type SessionChoice =
  | { readonly kind: 'refused', readonly message: string }
  /** `from`: the stored session whose history is read. */
  | { readonly kind: 'fresh', readonly id: string }
  | { readonly kind: 'resume', readonly id: string, readonly from: string }

/** Which session this launch writes and reads. `folder` is the project's session folder. */
export function chooseSession(flags: Flags, folder: string, setup: Setup): SessionChoice {
  const wanted = typeof flags.resume === 'string' ? flags.resume : flags.continue ? lastSession(folder) : null
  if (wanted !== null) {
    if (setup.resume === 'refuse' || !isStored(folder, wanted)) return { kind: 'refused', message: `No conversation found with session ID: ${wanted}` }
    return { kind: 'resume', id: flags.forkSession ? flags.sessionId ?? randomUUID() : wanted, from: wanted }
  }
  const given = flags.sessionId
  if (given !== undefined && (setup.sessionId === 'in-use' || isStored(folder, given))) {
    return { kind: 'refused', message: `Error: Session ID ${given} is already in use.` }
  }
  return { kind: 'fresh', id: given ?? randomUUID() }
}

/** Precedence as measured: --settings env, then the configuration file's env block (unless --provider and --model), then --model, then the environment. */
export function resolveModel(flags: Flags, env: SimEnv): string {
  const settings = flags.settings === undefined ? undefined : envBlock(flags.settings)
  const pinned = flags.provider !== undefined && flags.model !== undefined ? flags.model : undefined
  return settings ?? pinned ?? envBlock(globalConfigPath(env)) ?? flags.model ?? env['OPENAI_MODEL'] ?? 'sim-model'
}

function globalConfigPath(env: SimEnv): string {
  return join(env['OPENCLAUDE_CONFIG_DIR'] ?? env['HOME'] ?? '/', '.openclaude.json')
}

function envBlock(fileOrJson: string): string | undefined {
  try {
    const text = isJsonText(fileOrJson) ? fileOrJson : readFileSync(fileOrJson, 'utf8')
    return (JSON.parse(text) as { readonly env?: { readonly OPENAI_MODEL?: string } }).env?.OPENAI_MODEL
  } catch {
    return undefined
  }
}

function isJsonText(text: string): boolean {
  return text.trimStart().startsWith('{')
}
