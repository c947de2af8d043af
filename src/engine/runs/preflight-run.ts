/** Asks every executor that a graph uses whether it can work at all, before anything starts. */
import type { Graph } from '../../core/graph-types.ts'
import type { Assembly } from './assemble.ts'

/** Warnings for the person who starts the run. @throws what the executor found wrong. */
export async function preflight(graph: Graph, assembly: Assembly, cwd: string): Promise<readonly string[]> {
  const warnings: string[] = []
  for (const name of new Set(graph.tasks.map(task => task.assignee))) {
    const facts = await assembly.registry.get(name)?.preflight({ cwd })
    warnings.push(...facts?.warnings ?? [])
  }
  return warnings
}
