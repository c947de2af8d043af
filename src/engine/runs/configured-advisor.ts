/** The advisor a configuration asks for: OpenClaude itself in print mode, the host's model, or none. */
import type { ResolvedConfig } from '../../core/config-types.ts'
import { decodeGraph } from '../../core/decode-graph.ts'
import type { DecodedTasks } from '../../core/decode-decision.ts'
import { MARKER_NAME } from '../../executor/process/child-env.ts'
import { findExecutable } from '../../executor/process/find-executable.ts'
import { modelArgs } from '../../executor/openclaude/argv.ts'
import { runPlain } from '../../executor/plain/child.ts'
import { createAdvisor } from '../../supervision/advisor.ts'
import { createOpenClaudeModel } from '../../supervision/openclaude-model.ts'
import type { Advisor, AdvisorModel } from '../../supervision/ports.ts'

export interface ConfiguredAdvisorOptions {
  readonly config: ResolvedConfig
  /** The complete environment of an OpenClaude child. */
  readonly env: Readonly<Record<string, string>>
  readonly hostModel: AdvisorModel | null
  readonly redact: (text: string) => string
  /** Names of the executors that the tasks of a split may be assigned to. */
  readonly executors: () => readonly string[]
}

/** Null = decisions are made by policy alone. @throws OC_CHILD_NOT_FOUND when OpenClaude is asked for and can't be found. */
export function configuredAdvisor(options: ConfiguredAdvisorOptions): Advisor | null {
  const model = configuredModel(options)
  if (model === null) return null
  return createAdvisor(model, { redact: options.redact, decodeTasks: tasks => decodeSplit(tasks, options.executors()) })
}

function configuredModel({ config, env, hostModel }: ConfiguredAdvisorOptions): AdvisorModel | null {
  if (!config.supervisorEnabled) return null
  switch (config.supervisor) {
    case 'none':
      return null
    case 'host':
      return hostModel
    case 'openclaude':
      return createOpenClaudeModel({
        runPlain, env,
        command: findExecutable(config.executable, { env, cwd: config.workdir }).argv,
        modelArgs: modelArgs(config.supervisorProvider || config.provider, config.supervisorModel || config.model),
        timeoutMs: config.supervisorTimeoutMs,
        killGraceMs: config.killGraceMs,
        markerName: MARKER_NAME,
      })
  }
}

/** What a model wrote may carry neither checks nor command tasks (SEMANTICS 12). */
function decodeSplit(tasks: readonly unknown[], executors: readonly string[]): DecodedTasks {
  const decoded = decodeGraph({ tasks }, { executors, trusted: false })
  return decoded.kind === 'graph'
    ? { ok: true, tasks: decoded.graph.tasks }
    : { ok: false, faults: decoded.faults.map(fault => `${fault.path}: ${fault.message}`) }
}
