/** From configuration, attempt and policy step to what a keeper is asked to run. Looks for the executable; starts nothing. */
import type { SpawnFailure } from '../../core/attempt-types.ts'
import { heartbeatMs } from '../../config/child-keys.ts'
import type { ResolvedConfig } from '../../core/config-types.ts'
import type { TaskTimeouts } from '../../core/graph-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import type { NextStep } from './attempt-policy.ts'
import { MARKER_NAME } from '../process/child-env.ts'
import type { AttemptRequest } from '../executor.ts'
import { findExecutable } from '../process/find-executable.ts'
import { launchPrompt } from './launch-prompt.ts'
import type { LaunchRequest } from '../keeper/launch-types.ts'
import { openclaudeFlags, stdinPrompt } from './argv.ts'
import type { WatchdogSettings } from '../watchdog/settings.ts'

export interface LaunchPlan {
  readonly config: ResolvedConfig
  /** Complete but for the marker. */
  readonly env: Readonly<Record<string, string>>
  readonly request: AttemptRequest
  readonly step: Extract<NextStep, { kind: 'relaunch' }>
  readonly dir: string
  readonly sessionId: string
  readonly marker: string
}

export type PlannedLaunch =
  | { readonly kind: 'request', readonly request: LaunchRequest }
  | { readonly kind: 'failed', readonly failure: SpawnFailure }

export function planLaunch({ config, env, request, step, dir, sessionId, marker }: LaunchPlan): PlannedLaunch {
  let program: readonly string[]
  try {
    program = findExecutable(config.executable, { env, cwd: request.cwd }).argv
  } catch (error) {
    if (!(error instanceof OpenClaudeError)) throw error
    const reason = error.code === 'OC_CHILD_NOT_FOUND' ? 'not-found' : 'not-executable'
    return { kind: 'failed', failure: { reason, message: error.message, key: `${reason}:${config.executable.join(' ')}` } }
  }
  const flags = openclaudeFlags(config, { mode: step.mode, sessionId, ...(request.model === undefined ? {} : { model: request.model }) })
  return {
    kind: 'request',
    request: {
      dir,
      argv: [...program, ...flags],
      cwd: request.cwd,
      env: { ...env, [MARKER_NAME]: marker },
      marker: { name: MARKER_NAME, value: marker },
      prompt: stdinPrompt(launchPrompt(request.prompt, step)),
      workspaceRoot: request.workspaceRoot,
      maxStreamBytes: config.maxStreamBytes,
      // A dry run ends nothing: then the keeper has no bound either.
      maxRuntimeMs: config.watchdog === 'dry-run' ? 0 : watchdogSettings(config, request.timeouts).maxRuntimeMs,
      killGraceMs: config.killGraceMs,
      onEngineDeath: config.onEngineDeath,
    },
  }
}

/** The clocks of a launch: the configured ones, each overridden by the task where it says so. */
export function watchdogSettings(config: ResolvedConfig, timeouts: TaskTimeouts): WatchdogSettings {
  return {
    firstEventTimeoutMs: timeouts.firstEventTimeoutMs ?? config.firstEventTimeoutMs,
    idleTimeoutMs: timeouts.idleTimeoutMs ?? config.idleTimeoutMs,
    toolTimeoutMs: timeouts.toolTimeoutMs ?? config.toolTimeoutMs,
    agentToolTimeoutMs: timeouts.agentToolTimeoutMs ?? config.agentToolTimeoutMs,
    backgroundTimeoutMs: timeouts.backgroundTimeoutMs ?? config.backgroundTimeoutMs,
    settleTimeoutMs: timeouts.settleTimeoutMs ?? config.settleTimeoutMs,
    maxRuntimeMs: timeouts.maxRuntimeMs ?? config.maxRuntimeMs,
    heartbeatMs: heartbeatMs(config.heartbeat),
  }
}
