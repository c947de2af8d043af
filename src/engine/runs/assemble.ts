/** Puts the real parts of an engine together from a configuration: executors, workspace, judge, advisor, patches, context. Decides nothing. */
import type { ResolvedConfig } from '../../core/config-types.ts'
import { MARKER_NAME, openclaudeEnv, plainEnv, type EnvMode } from '../../executor/process/child-env.ts'
import { createCommandExecutor } from '../../executor/plain/command.ts'
import { collectContext } from '../../executor/context/context.ts'
import type { Executor } from '../../executor/executor.ts'
import { createOpenClaudeExecutor } from '../../executor/openclaude/openclaude.ts'
import { runPlain } from '../../executor/plain/child.ts'
import { newExecutorRegistry, type ExecutorRegistry } from '../../executor/registry.ts'
import { createJudge } from '../../supervision/acceptance.ts'
import { resolveChecks, type ResolvedChecks } from '../../supervision/checks.ts'
import type { AdvisorModel } from '../../supervision/ports.ts'
import { changedFiles, unifiedDiff } from '../../workspace/diff.ts'
import { createSharedWorkspace } from '../../workspace/shared.ts'
import type { EngineParts } from '../drive/parts.ts'
import { createPatchPort } from '../drive/patch-port.ts'
import type { Redactor } from '../secrets/redact.ts'
import { configuredAdvisor } from './configured-advisor.ts'

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
  const workspace = await createSharedWorkspace(workdir)
  const parts: EngineParts = {
    executor: registry.get,
    workspace,
    judge,
    repin: judge.repin,
    advisor: configuredAdvisor({
      config, redact,
      env: openclaudeEnv({ mode: options.envMode, caller: environment, config }),
      hostModel: options.hostModel,
    }),
    patches: createPatchPort(config.patchMode, config.stateDir),
    context: async (task, at) => (await collectContext({
      root: at.root, task, redact,
      files: [...(await workspace.snapshot(at)).files.keys()],
      strategy: config.contextStrategy,
      maxTokens: config.contextMaxTokens,
    })).text,
    diff: (at, before, after) => unifiedDiff(at, changedFiles(before, after), { maxBytes: MAX_DIFF_BYTES }),
    redact,
  }
  return { parts, registry, checks }
}
