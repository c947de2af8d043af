/** What a run of a graph would start, per task: the command line of its executor and its checks. Starts nothing. */
import type { ConfigWithOrigins } from '../../core/config-types.ts'
import type { Check } from '../../core/evidence-types.ts'
import type { Graph, TaskSpec } from '../../core/graph-types.ts'
import { openclaudeFlags } from '../../executor/openclaude/argv.ts'
import { checksFor, resolveChecks } from '../../supervision/checks.ts'
import { realWorkdir } from '../state/state-dir.ts'

export interface TaskPlan {
  readonly id: string
  readonly title: string
  readonly assignee: string
  readonly dependencies: readonly string[]
  readonly command: string
  readonly checks: readonly Check[]
}

export interface RunPlan {
  readonly tasks: readonly TaskPlan[]
  readonly warnings: readonly string[]
}

/** @throws OC_WORKDIR_INVALID, OC_CONFIG_INVALID (a configured script does not exist). */
export async function planRun(graph: Graph, { config }: ConfigWithOrigins): Promise<RunPlan> {
  const workdir = await realWorkdir(config.workdir)
  const resolved = await resolveChecks(workdir, config)
  const tasks = graph.tasks.map((task): TaskPlan => ({
    id: task.id,
    title: task.title,
    assignee: task.assignee,
    dependencies: task.dependencies,
    command: commandOf(task, config),
    checks: checksFor(task, resolved, config),
  }))
  const unproved = tasks.filter(task => task.checks.every(check => check.argv === null))
  const warnings = unproved.length === 0 ? [] : [`no check can run for ${listed(unproved.map(task => task.id))}: their work would be "unverified"`]
  return { tasks, warnings: [...resolved.warnings, ...warnings] }
}

function commandOf(task: TaskSpec, config: ConfigWithOrigins['config']): string {
  if (task.assignee === 'command') return `sh -c ${JSON.stringify(task.command ?? '')}`
  if (task.assignee !== 'openclaude') return `(executor ${task.assignee})`
  const flags = openclaudeFlags(config, {
    mode: 'fresh', sessionId: '<new session>', ...(task.model === undefined ? {} : { model: task.model }),
  })
  return [...config.executable, ...flags].map(word => (/^[\w@%+=:,./<> -]+$/.test(word) && !word.includes(' ') ? word : JSON.stringify(word))).join(' ')
}

function listed(ids: readonly string[]): string {
  return ids.length <= 10 ? ids.join(', ') : `${ids.slice(0, 10).join(', ')} and ${ids.length - 10} more`
}
