/** Puts the real parts of an engine together from a configuration: executors, workspace, judge, advisor, patches, context. Decides nothing. */
import type { ResolvedConfig } from '../../core/config-types.ts'
import { MARKER_NAME, plainEnv, type EnvMode } from '../../executor/process/child-env.ts'
import { createCommandExecutor } from '../../executor/plain/command.ts'
import type { Executor } from '../../executor/executor.ts'
import { createOpenClaudeExecutor } from '../../executor/openclaude/openclaude.ts'
import { runPlain } from '../../executor/plain/child.ts'
import { newExecutorRegistry, type ExecutorRegistry } from '../../executor/registry.ts'
import { createJudge } from '../../supervision/acceptance.ts'
import { resolveChecks, type ResolvedChecks } from '../../supervision/checks.ts'
import type { Advisor, AdvisorModel } from '../../supervision/ports.ts'
import { changedFiles, unifiedDiff } from '../../workspace/diff.ts'
import { createSharedWorkspace } from '../../workspace/shared.ts'
import type { EngineParts } from '../drive/parts.ts'
import type { Redactor } from '../secrets/redact.ts'

const MAX_DIFF_BYTES = 256 * 1024

export interface AssembleOptions {
  readonly config: ResolvedConfig
  /** Real path of the work directory. */
  readonly workdir: string
  /** Folder of the repository's evidence; null = nothing is remembered. */
  readonly evidenceDir: string | null
  readonly redactor: Redactor
  readonly envMode: EnvMode
  /** Executors beside the built-in ones. */
  readonly executors: readonly Executor[]
  /** The host's model (DSH), for `supervisor: host`. */
  readonly hostModel: AdvisorModel | null
  /** The checks a resumed run was started with; null = resolve them now. */
  readonly pinned: ResolvedChecks | null
}

export interface Assembly {
  readonly parts: EngineParts
  readonly registry: ExecutorRegistry
  readonly checks: ResolvedChecks
}

/** @throws OC_CONFIG_INVALID for a configured script that does not exist, OC_WORKDIR_INVALID. */
export async function assemble(options: AssembleOptions): Promise<Assembly> {
  const { config, workdir, redactor } = options
  const environment = process.env
  const { redact } = redactor
  const registry = newExecutorRegistry([
    createOpenClaudeExecutor(config, { environment, envMode: options.envMode, uid: process.geteuid?.() ?? null, redact }),
    createCommandExecutor(config, { environment, envMode: options.envMode }),
    ...options.executors,
  ])
  const checks = options.pinned ?? await resolveChecks(workdir, config)
  const judge = createJudge({
    runPlain, redact, checks,
    env: plainEnv({ mode: options.envMode, caller: environment, config }),
    killGraceMs: config.killGraceMs,
    markerName: MARKER_NAME,
    config: { ...config, workdir },
    evidenceDir: options.evidenceDir,
  })
  const parts: EngineParts = {
    executor: registry.get,
    workspace: await createSharedWorkspace(workdir),
    judge,
    repin: judge.repin,
    advisor: createConfiguredAdvisor(options),
    patches: { plan: () => Promise.resolve({ refused: 'patches are off' }), apply: () => Promise.reject(new Error('never planned')) },
    context: () => Promise.resolve(''),
    diff: (workspace, before, after) => unifiedDiff(workspace, changedFiles(before, after), { maxBytes: MAX_DIFF_BYTES }),
    redact,
  }
  return { parts, registry, checks }
}

function createConfiguredAdvisor(_options: AssembleOptions): Advisor | null {
  return null
}
