/**
 * Finds the edges that close a cycle, each with its chain. Own stack, so that a chain of 100,000 tasks needs no call depth; O(V + E).
 * Order and critical path are no concern of this file.
 */

/** Values of `depth` other than a place on the stack. */
const UNSEEN = -1
const DONE = -2

/** Task `i` depends on the tasks `targets[starts[i] .. starts[i + 1] - 1]`, all of them indexes; a negative one is no edge. */
export interface DependencyEdges {
  readonly starts: Int32Array
  readonly targets: readonly number[]
}

/**
 * Returns one chain of task indexes per closing edge: each entry depends on the next, the last one on the first. Empty = no cycle.
 * Without all the closing edges the graph has no cycle left. At most `limit` chains are returned.
 */
export function findCycles(edges: DependencyEdges, limit: number): readonly (readonly number[])[] {
  const { starts, targets } = edges
  const count = starts.length - 1
  const cursor = starts.slice(0, count)
  const depth = new Int32Array(count).fill(UNSEEN)
  const stack = new Int32Array(count)
  const cycles: number[][] = []
  for (let root = 0; root < count && cycles.length < limit; root += 1) {
    if (depth[root] !== UNSEEN) continue
    let top = 0
    stack[0] = root
    depth[root] = 0
    while (top >= 0) {
      const task = stack[top] ?? 0
      const next = cursor[task] ?? 0
      if (next === starts[task + 1]) {
        depth[task] = DONE
        top -= 1
        continue
      }
      cursor[task] = next + 1
      const target = targets[next] ?? -1
      if (target < 0) continue
      const at = depth[target] ?? DONE
      if (at === UNSEEN) {
        top += 1
        stack[top] = target
        depth[target] = top
      } else if (at !== DONE && cycles.length < limit) {
        cycles.push(Array.from(stack.subarray(at, top + 1)))
      }
    }
  }
  return cycles
}
