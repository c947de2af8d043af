/**
 * The flags of one OpenClaude launch and the text on its stdin. A table, nothing else: no process, no file.
 * The order matters at its end only: `--add-dir` takes every word up to the next flag, `extraArgs` go last as the user wrote them.
 */
import type { LaunchMode } from '../../core/attempt-types.ts'
import type { ResolvedConfig } from '../../core/config-types.ts'
import { permissionFlags } from './permissions.ts'
import { REPORT_INSTRUCTIONS } from '../stream/report-block.ts'

export type ArgvConfig = Pick<ResolvedConfig,
  'provider' | 'model' | 'maxTurns' | 'permissionMode' | 'extraArgs' | 'addDirs' | 'appendSystemPrompt' | 'noSessionPersistence' | 'heartbeat'>

export interface ArgvLaunch {
  readonly mode: LaunchMode
  readonly sessionId: string
  /** Model of the task; wins over the configured one. */
  readonly model?: string
}

/** Flags after the executable. Empty provider, model and heartbeat mean: no flag, OpenClaude's own setting rules. The report is always asked for. */
export function openclaudeFlags(config: ArgvConfig, launch: ArgvLaunch): string[] {
  const model = launch.model ?? config.model
  return [
    '--print',
    '--output-format', 'stream-json',
    '--verbose',
    '--include-partial-messages',
    ...(launch.mode === 'fresh' ? ['--session-id', launch.sessionId] : ['--resume', launch.sessionId]),
    ...flag('--max-turns', config.maxTurns > 0 ? String(config.maxTurns) : ''),
    ...flag('--heartbeat', config.heartbeat),
    ...permissionFlags(config.permissionMode),
    ...modelArgs(config.provider, model),
    '--append-system-prompt', [config.appendSystemPrompt, REPORT_INSTRUCTIONS].filter(text => text !== '').join('\n\n'),
    ...(config.noSessionPersistence ? ['--no-session-persistence'] : []),
    ...config.addDirs.flatMap(dir => ['--add-dir', dir]),
    ...config.extraArgs,
  ]
}

/** Flags that choose provider and model; empty = none, OpenClaude's own setting rules. */
export function modelArgs(provider: string, model: string): string[] {
  return [...flag('--provider', provider), ...modelFlags(model)]
}

/** OpenClaude's own `env` block beats the environment of the child and `--model`; only `--settings` beats that block. */
function modelFlags(model: string): string[] {
  return model === '' ? [] : ['--settings', JSON.stringify({ env: { OPENAI_MODEL: model } }), '--model', model]
}

function flag(name: string, value: string): string[] {
  return value === '' ? [] : [name, value]
}

/** A prompt that starts with `/` would be read as a slash command: a line goes before it. */
export function stdinPrompt(prompt: string): string {
  return /^\s*\//.test(prompt) ? `The task:\n${prompt}` : prompt
}
