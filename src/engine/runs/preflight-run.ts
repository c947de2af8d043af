/** Asks every executor that a graph uses whether it can work at all, before anything starts. */
import type { Graph } from '../../core/graph-types.ts'
import type { Assembly } from './assemble.ts'

/** @throws what an executor found wrong. */
export async function preflight(graph: Graph, assembly: Assembly, cwd: string): Promise<void> {
  for (const name of new Set(graph.tasks.map(task => task.assignee))) {
    await assembly.registry.get(name)?.preflight({ cwd })
  }
}
