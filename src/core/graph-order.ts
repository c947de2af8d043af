/**
 * Order within a graph: topological order, cycles, waves, longest remaining path, critical path.
 * Works on indexes, iteratively, in O(V+E): a chain of 100,000 tasks must not use the call stack. Knows nothing of states.
 */
import { findCycles } from './graph-cycle.ts'
import type { TaskId } from './graph-types.ts'

interface Node {
  readonly id: TaskId
  readonly dependencies: readonly TaskId[]
}

/** Edges both ways, by index in the order of the graph. Repeated edges count once, edges to unknown ids are left out; whoever decodes a graph reports them. */
export interface GraphEdges {
  readonly dependencies: readonly (readonly number[])[]
  readonly dependents: readonly (readonly number[])[]
}

export function graphEdges(tasks: readonly Node[]): GraphEdges {
  const indexOf = new Map<TaskId, number>()
  for (const [index, task] of tasks.entries()) if (!indexOf.has(task.id)) indexOf.set(task.id, index)
  const dependents: number[][] = tasks.map(() => [])
  const dependencies = tasks.map((task, index) => {
    const found: number[] = []
    for (const id of task.dependencies.length > 1 ? new Set(task.dependencies) : task.dependencies) {
      const dependency = indexOf.get(id)
      if (dependency === undefined) continue
      found.push(dependency)
      dependents[dependency]?.push(index)
    }
    return found
  })
  return { dependencies, dependents }
}

/** Kahn's order, ties by index. `order` is shorter than the graph exactly when there is a cycle. */
export function topologicalOrder(edges: GraphEdges): readonly number[] {
  const open = edges.dependencies.map(list => list.length)
  const order: number[] = []
  for (const [index, count] of open.entries()) if (count === 0) order.push(index)
  for (let next = 0; next < order.length; next += 1) {
    for (const dependent of edges.dependents[order[next] ?? -1] ?? []) {
      const left = (open[dependent] ?? 0) - 1
      open[dependent] = left
      if (left === 0) order.push(dependent)
    }
  }
  return order
}

/** One cycle as a chain in which each task depends on the next and the last on the first; null when there is none. */
export function findCycle({ dependencies }: GraphEdges): readonly number[] | null {
  const starts = new Int32Array(dependencies.length + 1)
  for (const [index, list] of dependencies.entries()) starts[index + 1] = (starts[index] ?? 0) + list.length
  return findCycles({ starts, targets: dependencies.flat() }, 1)[0] ?? null
}

/** For each task the number of tasks on the longest path from it to an end, itself included (SEMANTICS 13). */
export function remainingPaths(edges: GraphEdges, order: readonly number[] = topologicalOrder(edges)): number[] {
  const paths = edges.dependencies.map(() => 1)
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const index = order[at] ?? 0
    let longest = 0
    for (const dependent of edges.dependents[index] ?? []) longest = Math.max(longest, paths[dependent] ?? 0)
    paths[index] = longest + 1
  }
  return paths
}

/** Tasks by the earliest wave they can start in with unlimited slots. */
export function waves(edges: GraphEdges, order: readonly number[] = topologicalOrder(edges)): readonly (readonly number[])[] {
  const waveOf = edges.dependencies.map(() => 0)
  const result: number[][] = []
  for (const index of order) {
    let wave = 0
    for (const dependency of edges.dependencies[index] ?? []) wave = Math.max(wave, (waveOf[dependency] ?? 0) + 1)
    waveOf[index] = wave
    const members = result[wave]
    if (members === undefined) result[wave] = [index]
    else members.push(index)
  }
  return result
}

/** One longest chain from a start to an end; the first by index among equals. */
export function criticalPath(edges: GraphEdges): readonly number[] {
  const paths = remainingPaths(edges)
  const longestOf = (candidates: Iterable<number>): number => {
    let best = -1
    for (const index of candidates) if (best < 0 || (paths[index] ?? 0) > (paths[best] ?? 0)) best = index
    return best
  }
  const chain: number[] = []
  for (let index = longestOf(paths.keys()); index >= 0; index = longestOf(edges.dependents[index] ?? [])) chain.push(index)
  return chain
}
