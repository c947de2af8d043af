/** The advisor a configuration asks for: OpenClaude itself in print mode, the host's model, or none. */
import type { ResolvedConfig } from '../../core/config-types.ts'
import type { TaskDecoder } from '../../core/decode-decision.ts'
import { decodeTask } from '../../core/decode-task.ts'
import { faultList } from '../../core/fault-list.ts'
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
}

/** Null = decisions are made by policy alone. @throws OC_CHILD_NOT_FOUND when OpenClaude is asked for and can't be found. */
export function configuredAdvisor(options: ConfiguredAdvisorOptions): Advisor | null {
  const model = configuredModel(options)
  if (model === null) return null
  return createAdvisor(model, { redact: options.redact, decodeTasks: decodeSplit })
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

/** Decoded as a model's: no checks, no command tasks (SEMANTICS 12). Whether ids and dependencies fit the run is for the core to say. */
const decodeSplit: TaskDecoder = (written) => {
  const faults = faultList()
  const context = { list: '$.tasks', faults, trusted: false, mixedCase: false }
  const tasks = written.map((task, index) => decodeTask(task, index, context)).filter(task => task !== null)
  return faults.count() === 0 ? { ok: true, tasks } : { ok: false, faults: faults.all().map(fault => `${fault.path}: ${fault.message}`) }
}
