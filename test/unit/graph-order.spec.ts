import { describe, expect, test } from 'vitest'
import { criticalPath, findCycle, graphEdges, remainingPaths, topologicalOrder, waves } from '../../src/core/graph-order.ts'
import { graphOf, spec } from '../support/core-facts.ts'

//   a - b - e
//    \ c - d - f      g alone
const GRAPH = graphOf({ a: [], b: ['a'], c: ['a'], d: ['c'], e: ['b'], f: ['d'], g: [] })
const ids = (indexes: readonly number[]): readonly (string | undefined)[] => indexes.map(index => GRAPH.tasks[index]?.id)

describe('the order of a graph', () => {
  const edges = graphEdges(GRAPH.tasks)

  test('puts every task after what it depends on, ties by the order of the file', () => {
    expect(ids(topologicalOrder(edges))).toEqual(['a', 'g', 'b', 'c', 'e', 'd', 'f'])
  })

  test('counts the longest remaining path of each task, itself included', () => {
    expect(remainingPaths(edges)).toEqual([4, 2, 3, 2, 1, 1, 1])
  })

  test('groups tasks into the earliest waves', () => {
    expect(waves(edges).map(ids)).toEqual([['a', 'g'], ['b', 'c'], ['e', 'd'], ['f']])
  })

  test('names the critical path', () => {
    expect(ids(criticalPath(edges))).toEqual(['a', 'c', 'd', 'f'])
    expect(criticalPath(graphEdges([]))).toEqual([])
  })

  test('counts a repeated edge once and leaves unknown ids out', () => {
    expect(graphEdges([spec('a'), spec('b', ['a', 'a', 'zzz'])])).toEqual({ dependencies: [[], [0]], dependents: [[1], []] })
  })

  test('finds a cycle as the chain of tasks that depend on each other, tails left out', () => {
    const cyclic = graphOf({ start: [], x: ['z'], y: ['x', 'start'], z: ['y'], tail: ['z'] })
    const chain = findCycle(graphEdges(cyclic.tasks))
    expect(chain?.map(index => cyclic.tasks[index]?.id)).toEqual(['x', 'z', 'y'])
    expect(findCycle(edges)).toBeNull()
    expect(findCycle(graphEdges([spec('self', ['self'])]))).toEqual([0])
  })
})
