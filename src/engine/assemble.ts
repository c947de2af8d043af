/** Puts the real parts of an engine together from a configuration: executors, workspace, judge, advisor, patches, context. Decides nothing. */
import { join } from 'node:path'
import type { ResolvedConfig } from '../core/config-types.ts'
import type { RunPolicy } from '../core/run-types.ts'
import { createCommandExecutor } from '../executor/command.ts'
import { collectContext } from '../executor/context.ts'
import type { EnvMode } from '../executor/child-env.ts'
import { plainEnv } from '../executor/child-env.ts'
import type { Executor } from '../executor/executor.ts'
import { createOpenClaudeExecutor } from '../executor/openclaude.ts'
import { runPlain } from '../executor/plain-child.ts'
import { newExecutorRegistry, type ExecutorRegistry } from '../executor/registry.ts'
import { createJudge, resolveChecks, type ResolvedChecks } from '../supervision/acceptance.ts'
import { createAdvisor } from '../supervision/advisor.ts'
import { createEvidenceCache } from '../supervision/evidence-cache.ts'
import { createOpenClaudeModel } from '../supervision/openclaude-model.ts'
import { createPatchPort } from '../supervision/patch.ts'
import type { Advisor, AdvisorModel } from '../supervision/ports.ts'
import { changedFiles, unifiedDiff } from '../workspace/diff.ts'
import { createSharedWorkspace } from '../workspace/shared.ts'
import { decodeAdvisedTasks } from './advised-tasks.ts'
import type { EngineParts } from './parts.ts'
import type { Redactor } from './redact.ts'

const MAX_DIFF_BYTES = 256 * 1024

export interface AssembleOptions {
  readonly config: ResolvedConfig
  /** State folder of the repository; the evidence cache lives in it. */
  readonly repositoryDir: string
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
