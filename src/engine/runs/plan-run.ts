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
  /** Complete; `<new session>` stands for the id that the launch will have. */
  readonly argv: readonly string[]
  /** One line for people: long arguments are cut. */
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
  const tasks = graph.tasks.map((task): TaskPlan => {
    const argv = argvOf(task, config)
    return {
      id: task.id,
      title: task.title,
      assignee: task.assignee,
      dependencies: task.dependencies,
      argv,
      command: argv.map(shown).join(' '),
      checks: checksFor(task, resolved, config),
    }
  })
  const unproved = tasks.filter(task => task.checks.every(check => check.argv === null))
  const warnings = unproved.length === 0 ? [] : [`no check can run for ${listed(unproved.map(task => task.id))}: their work would be "unverified"`]
  return { tasks, warnings: [...resolved.warnings, ...warnings] }
}

function argvOf(task: TaskSpec, config: ConfigWithOrigins['config']): readonly string[] {
  if (task.assignee === 'command') return ['sh', '-c', task.command ?? '']
  if (task.assignee !== 'openclaude') return ['executor', task.assignee]
  return [...config.executable, ...openclaudeFlags(config, {
    mode: 'fresh', sessionId: '<new session>', ...(task.model === undefined ? {} : { model: task.model }),
  })]
}

const SHOWN = 60

function shown(word: string): string {
  if (word === '<new session>' || /^[\w@%+=:,./-]+$/.test(word)) return word
  return JSON.stringify(word.length <= SHOWN ? word : `${word.slice(0, SHOWN)}…`)
}

function listed(ids: readonly string[]): string {
  return ids.length <= 10 ? ids.join(', ') : `${ids.slice(0, 10).join(', ')} and ${ids.length - 10} more`
}
