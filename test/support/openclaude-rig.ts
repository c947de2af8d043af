/** An attempt of the executor `openclaude` with the simulator in the place of OpenClaude, playing a scenario, with scaled clocks. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ResolvedConfig } from '../../src/core/config-types.ts'
import { MARKER_NAME } from '../../src/executor/process/child-env.ts'
import type { AttemptHandle, Executor } from '../../src/executor/executor.ts'
import { createOpenClaudeExecutor } from '../../src/executor/openclaude/openclaude.ts'
import type { Scenario } from '../../src/simulator/scenario.ts'
import { newAttemptRig, type AttemptRig, type RigOptions } from './attempt-rig.ts'
import { withEnvironment } from './processes.ts'
import { SIM_COMMAND, writeScenario } from './sim-rig.ts'
import { testConfig } from './test-config.ts'

/** What the simulator noted about one launch of itself. */
export interface SimLaunch {
  readonly pid: number
  readonly argv: readonly string[]
  readonly prompt: string
  readonly launch: 'fresh' | 'resume'
  readonly session: string | null
}

export interface OpenClaudeRig {
  readonly attempt: AttemptRig
  readonly executor: Executor
  readonly config: ResolvedConfig
  readonly start: () => AttemptHandle
  readonly simLaunches: () => SimLaunch[]
  /** Living processes that carry a marker of this attempt. */
  readonly left: () => number[]
}

export interface OpenClaudeRigOptions extends RigOptions {
  readonly scenario: Scenario
  readonly config?: Partial<ResolvedConfig>
  readonly env?: Readonly<Record<string, string>>
}

/** Windows ten times the noise of a busy machine, short enough for a test. */
export const SCALED: Partial<ResolvedConfig> = {
  heartbeat: '30s', idleTimeoutMs: 2000, toolTimeoutMs: 2000, firstEventTimeoutMs: 20_000, settleTimeoutMs: 2000, backgroundTimeoutMs: 2000,
  maxRuntimeMs: 60_000, killGraceMs: 1000,
}

export function newOpenClaudeRig({ scenario, config, env = {}, ...options }: OpenClaudeRigOptions): OpenClaudeRig {
  const attempt = newAttemptRig(options)
  const home = join(attempt.root, 'home')
  mkdirSync(home, { recursive: true })
  const resolved = testConfig({
    ...SCALED,
    executable: SIM_COMMAND,
    env: { HOME: home, IS_SANDBOX: '1', OPENCLAUDE_SIM_HEARTBEAT_MS: '200', ...writeScenario(attempt.root, scenario), ...env },
    ...config,
  })
  const executor = createOpenClaudeExecutor(resolved, { environment: process.env, envMode: 'inherit', uid: process.getuid?.() ?? null, redact: attempt.ports.redact })
  return {
    attempt, executor, config: resolved,
    start: () => executor.start(attempt.request, attempt.ports),
    simLaunches: () => {
      const log = join(attempt.root, 'sim-state', 'launches.ndjson')
      if (!existsSync(log)) return []
      return readFileSync(log, 'utf8').trim().split('\n').map(line => JSON.parse(line) as SimLaunch)
    },
    left: () => attempt.of('launch-intended').flatMap(({ marker }) => withEnvironment(MARKER_NAME, marker)),
  }
}
