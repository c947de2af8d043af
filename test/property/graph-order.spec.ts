import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addReady, firstReady, newReadyQueue, removeReady } from '../../src/core/ready-queue.ts'
import { findCycle, graphEdges, topologicalOrder } from '../../src/core/graph-order.ts'
import { newRunState } from '../../src/core/run-state.ts'
import { policy, spec } from '../support/core-facts.ts'

describe('order', () => {
  test('is complete exactly when there is no cycle, and every cycle found is one', () => {
    fc.assert(fc.property(fc.array(fc.array(fc.nat(9), { maxLength: 3 }), { minLength: 1, maxLength: 10 }), lists => {
      const tasks = lists.map((list, index) => spec(`t${index}`, list.filter(each => each < lists.length).map(each => `t${each}`)))
      const edges = graphEdges(tasks)
      const order = topologicalOrder(edges)
      const cycle = findCycle(edges)
      expect(order.length === tasks.length).toBe(cycle === null)
      for (const [at, index] of order.entries()) for (const dependency of edges.dependencies[index] ?? []) expect(order.indexOf(dependency)).toBeLessThan(at)
      for (const [at, index] of (cycle ?? []).entries()) {
        const next = cycle?.[(at + 1) % cycle.length] ?? -1
        expect(edges.dependencies[index]).toContain(next)
      }
    }))
  })

  test('of the ready queue is the order of a sort, whatever is added and taken out (R-52)', () => {
    const step = fc.record({ index: fc.nat(19), add: fc.boolean() })
    fc.assert(fc.property(fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 20, maxLength: 20 }), fc.array(step, { minLength: 40, maxLength: 200 }), (priorities, steps) => {
      const { tasks } = newRunState({ tasks: priorities.map((priority, index) => spec(`t${index}`, [], { priority })) }, 'run', policy())
      const queue = newReadyQueue()
      const model = new Set<number>()
      for (const { index, add } of steps) {
        if (add) addReady(queue, tasks, index)
        else removeReady(queue, tasks, index)
        if (add) model.add(index)
        else model.delete(index)
      }
      const expected = [...model].sort((a, b) => (priorities[b] ?? 0) - (priorities[a] ?? 0) || a - b)
      const drained: number[] = []
      for (let next = firstReady(queue, tasks); next !== undefined; next = firstReady(queue, tasks)) {
        drained.push(next.index)
        removeReady(queue, tasks, next.index)
      }
      expect(drained).toEqual(expected)
    }))
  })
})
