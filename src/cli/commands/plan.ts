/** `plan <graph>`: validates, then prints waves, critical path and the commands that would run. Starts nothing. */
import { criticalPath, graphEdges, waves } from '../../core/graph-order.ts'
import { planRun } from '../../engine/runs/plan-run.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { graphOf } from './run.ts'

export async function planCommand([target = '']: readonly string[], options: CommonOptions, output: Output): Promise<number> {
  const config = configOf(options)
  const { graph, graphPath } = await graphOf(target)
  const plan = await planRun(graph, config)
  const edges = graphEdges(graph.tasks)
  const idOf = (index: number): string => graph.tasks[index]?.id ?? ''
  const levels = waves(edges).map(wave => wave.map(idOf))
  const path = criticalPath(edges).map(idOf)
  output.say(`${graph.tasks.length} task${graph.tasks.length === 1 ? '' : 's'} in ${levels.length} wave${levels.length === 1 ? '' : 's'}, at most ${config.config.maxConcurrency} at a time`)
  levels.forEach((wave, index) => output.say(`wave ${index + 1}: ${wave.join(', ')}`))
  output.say(`critical path (${path.length}): ${path.join(' -> ')}`)
  output.say('')
  for (const task of plan.tasks) {
    output.say(`${task.id}: ${task.command}`)
    for (const check of task.checks) output.say(`  check ${check.name}: ${check.skipReason === null ? check.display : `skipped, ${check.skipReason}`}`)
  }
  for (const warning of [...config.warnings, ...plan.warnings]) output.warn(`warning: ${warning}`)
  output.document({ graphPath, waves: levels, criticalPath: path, tasks: plan.tasks, warnings: [...config.warnings, ...plan.warnings] })
  return 0
}
