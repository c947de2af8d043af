/**
 * The flags of OpenClaude 0.29.1 with the same grammar and the same messages, parsed by the same library. Owns no rule that needs a file or the environment:
 * those are in `preconditions.ts`.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'

export interface Flags {
  readonly prompt: string | undefined
  readonly print: boolean
  readonly outputFormat: 'text' | 'json' | 'stream-json'
  readonly verbose: boolean
  readonly sessionId: string | undefined
  /** true = the flag without a value. */
  readonly resume: string | true | undefined
  readonly continue: boolean
  readonly forkSession: boolean
  readonly sessionPersistence: boolean
  readonly maxTurns: number | undefined
  readonly heartbeatMs: number | undefined
  readonly bypass: boolean
  readonly permissionMode: PermissionMode
  readonly appendSystemPrompt: string | undefined
  readonly addDir: readonly string[]
  readonly settings: string | undefined
  readonly mcpConfig: readonly string[]
  readonly model: string | undefined
  readonly provider: string | undefined
  readonly maxBudgetUsd: number | undefined
  readonly partialMessages: boolean
  /** undefined = all tools. */
  readonly tools: readonly string[] | undefined
  readonly allowedTools: readonly string[]
  readonly disallowedTools: readonly string[]
  readonly jsonSchema: string | undefined
  readonly permissionPromptTool: string | undefined
}

const PERMISSION_MODES = ['acceptEdits', 'bypassPermissions', 'default', 'dontAsk', 'fullAccess', 'plan', 'auto'] as const
type PermissionMode = typeof PERMISSION_MODES[number]

export type ParsedLine =
  | { readonly kind: 'flags', readonly flags: Flags }
  /** Help, version or an error: already written. */
  | { readonly kind: 'ended', readonly code: number }

const VERSION = '0.29.1 (OpenClaude)'
const MAX_TIMER_MS = 2_147_483_647

export function parseCommandLine(argv: readonly string[], out: { readonly stdout: (text: string) => void, readonly stderr: (text: string) => void }): ParsedLine {
  const command = describe().configureOutput({ writeOut: out.stdout, writeErr: out.stderr }).exitOverride()
  try {
    command.parse([...argv], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return { kind: 'ended', code: error.exitCode }
    out.stderr(`${error instanceof Error ? error.stack : String(error)}\n\nNode.js ${process.version}\n`)
    return { kind: 'ended', code: 1 }
  }
  return { kind: 'flags', flags: readFlags(command) }
}

function describe(): Command {
  const flag = (names: string, text: string): Option => new Option(names, text)
  return new Command()
    .name('openclaude')
    .description('OpenClaude, simulated: plays a scenario instead of asking a model')
    .argument('[prompt]', 'Your prompt')
    .helpOption('-h, --help', 'Display help for command')
    .version(VERSION, '-v, --version', 'Output the version number')
    .addOption(flag('-p, --print', 'Print response and exit'))
    .addOption(flag('--output-format <format>', 'Output format').choices(['text', 'json', 'stream-json']))
    .addOption(flag('--input-format <format>', 'Input format').choices(['text', 'stream-json']))
    .addOption(flag('--verbose', 'Verbose output'))
    .addOption(flag('--include-partial-messages', 'Include partial message chunks as they arrive'))
    .addOption(flag('--session-id <uuid>', 'Use a specific session ID'))
    .addOption(flag('-r, --resume [value]', 'Resume a conversation by session ID'))
    .addOption(flag('-c, --continue', 'Continue the most recent conversation in the current directory'))
    .addOption(flag('--fork-session', 'When resuming, create a new session ID'))
    .addOption(flag('--no-session-persistence', 'Do not save the session'))
    .addOption(flag('--max-turns <turns>', 'Maximum number of agentic turns').argParser(wholeNumber))
    .addOption(flag('--max-budget-usd <amount>', 'Maximum amount to spend').argParser(budget))
    .addOption(flag('--heartbeat <duration>', 'Report liveness at this interval').argParser(heartbeat))
    .addOption(flag('--yolo, --dangerously-skip-permissions', 'Bypass all permission checks'))
    .addOption(flag('--permission-mode <mode>', 'Permission mode').choices(PERMISSION_MODES))
    .addOption(flag('--permission-prompt-tool <tool>', 'Tool that answers permission prompts').hideHelp())
    .addOption(flag('--append-system-prompt <prompt>', 'Append to the system prompt'))
    .addOption(flag('--system-prompt <prompt>', 'System prompt'))
    .addOption(flag('--add-dir <directories...>', 'Additional directories'))
    .addOption(flag('--settings <file-or-json>', 'Settings file or JSON string'))
    .addOption(flag('--setting-sources <sources>', 'Setting sources to load'))
    .addOption(flag('--model <model>', 'Model'))
    .addOption(flag('--fallback-model <model>', 'Fallback model'))
    .addOption(flag('--provider <provider>', 'Provider'))
    .addOption(flag('--tools <tools...>', 'Available built-in tools'))
    .addOption(flag('--allowedTools, --allowed-tools <tools...>', 'Tools to allow'))
    .addOption(flag('--disallowedTools, --disallowed-tools <tools...>', 'Tools to deny'))
    .addOption(flag('--mcp-config <configs...>', 'MCP servers from JSON files or strings'))
    .addOption(flag('--strict-mcp-config', 'Only use MCP servers from --mcp-config'))
    .addOption(flag('--json-schema <schema>', 'JSON Schema for structured output'))
    .addOption(flag('--bare', 'Minimal mode'))
    .addOption(flag('-d, --debug [filter]', 'Debug mode'))
}

function wholeNumber(text: string): number {
  if (!/^\d+$/u.test(text)) throw new InvalidArgumentError('--max-turns must be a non-negative integer')
  return Number(text)
}

/** Throws a plain error: the real program ends with a raw stack trace here. */
function budget(text: string): number {
  const amount = Number(text)
  if (!(amount > 0)) throw new Error('--max-budget-usd must be a positive number greater than 0')
  return amount
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }

function heartbeat(text: string): number {
  const found = /^(\d+)(ms|s|m)$/u.exec(text)
  if (text !== '0' && found === null) throw new InvalidArgumentError('--heartbeat must be a duration like 30s, 2m, or 5000ms.')
  const value = found === null ? 0 : Number(found[1]) * (UNIT_MS[found[2] ?? ''] ?? 0)
  if (value < 5000) throw new InvalidArgumentError('--heartbeat must be at least 5s.')
  if (value > MAX_TIMER_MS) throw new InvalidArgumentError(`--heartbeat must be at most ${MAX_TIMER_MS}ms.`)
  return value
}

interface RawOptions {
  readonly print?: true
  readonly outputFormat?: Flags['outputFormat']
  readonly verbose?: true
  readonly sessionId?: string
  readonly resume?: string | true
  readonly continue?: true
  readonly forkSession?: true
  readonly sessionPersistence: boolean
  readonly maxTurns?: number
  readonly heartbeat?: number
  readonly dangerouslySkipPermissions?: true
  readonly permissionMode?: PermissionMode
  readonly appendSystemPrompt?: string
  readonly addDir?: readonly string[]
  readonly settings?: string
  readonly mcpConfig?: readonly string[]
  readonly model?: string
  readonly provider?: string
  readonly maxBudgetUsd?: number
  readonly includePartialMessages?: true
  readonly tools?: readonly string[]
  readonly allowedTools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  readonly jsonSchema?: string
  readonly permissionPromptTool?: string
}

function readFlags(command: Command): Flags {
  const raw = command.opts<RawOptions>()
  const bypass = raw.dangerouslySkipPermissions === true
  return {
    prompt: command.args[0],
    print: raw.print === true,
    outputFormat: raw.outputFormat ?? 'text',
    verbose: raw.verbose === true,
    sessionId: raw.sessionId,
    resume: raw.resume,
    continue: raw.continue === true,
    forkSession: raw.forkSession === true,
    sessionPersistence: raw.sessionPersistence,
    maxTurns: raw.maxTurns,
    heartbeatMs: raw.heartbeat,
    bypass,
    permissionMode: bypass ? 'bypassPermissions' : raw.permissionMode ?? 'default',
    appendSystemPrompt: raw.appendSystemPrompt,
    addDir: raw.addDir ?? [],
    settings: raw.settings,
    mcpConfig: raw.mcpConfig ?? [],
    model: raw.model,
    provider: raw.provider,
    maxBudgetUsd: raw.maxBudgetUsd,
    partialMessages: raw.includePartialMessages === true,
    tools: raw.tools,
    allowedTools: raw.allowedTools ?? [],
    disallowedTools: raw.disallowedTools ?? [],
    jsonSchema: raw.jsonSchema,
    permissionPromptTool: raw.permissionPromptTool,
  }
}
