import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { decodeGraph } from '../../src/core/decode-graph.ts'
import { findCycles } from '../../src/core/graph-cycle.ts'
import { parseYamlText } from '../../src/engine/documents/yaml-text.ts'
import { arbitraryGraph } from '../support/arbitrary-graph.ts'

describe('a graph file (R-53)', () => {
  it('gives back the graph it was written from, as JSON', () => {
    fc.assert(fc.property(arbitraryGraph, graph => {
      expect(decodeGraph(JSON.parse(JSON.stringify(graph)), { trusted: true })).toEqual({ kind: 'graph', graph })
    }))
  })

  it('gives back the graph it was written from, as YAML', () => {
    fc.assert(fc.property(arbitraryGraph, graph => {
      const parsed = parseYamlText(stringify(graph, { aliasDuplicateObjects: false }))
      expect(parsed.kind === 'parsed' ? decodeGraph(parsed.value, { trusted: true }) : parsed).toEqual({ kind: 'graph', graph })
    }))
  })

  it('is answered with a graph or with faults, and never with an exception', () => {
    fc.assert(fc.property(fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.array(fc.dictionary(fc.constantFrom('id', 'dependencies', 'checks', 'x'), fc.jsonValue()))), value => {
      const decoded = decodeGraph(value, { trusted: true })
      expect(decoded.kind === 'graph' ? decoded.graph.tasks.length : decoded.faults.length).toBeGreaterThan(0)
    }))
  })
})

describe('findCycles', () => {
  const edgeLists = fc.integer({ min: 1, max: 12 }).chain(count => fc.array(fc.array(fc.nat({ max: count - 1 }), { maxLength: 4 }), { minLength: count, maxLength: count }))

  it('returns chains whose every step is an edge, and none exactly for a graph without a cycle', () => {
    fc.assert(fc.property(edgeLists, lists => {
      const cycles = findCycles(toEdges(lists), 1_000)
      for (const chain of cycles) {
        chain.forEach((task, at) => expect(lists[task]).toContain(chain[(at + 1) % chain.length]))
      }
      expect(cycles.length === 0).toBe(canBeOrdered(lists))
    }), { numRuns: 500 })
  })

  function toEdges(lists: readonly (readonly number[])[]): { readonly starts: Int32Array, readonly targets: readonly number[] } {
    const starts = new Int32Array(lists.length + 1)
    lists.forEach((list, index) => {
      starts[index + 1] = (starts[index] ?? 0) + list.length
    })
    return { starts, targets: lists.flat() }
  }

  /** The other way to know: take away what depends on nothing until nothing is left. */
  function canBeOrdered(lists: readonly (readonly number[])[]): boolean {
    const left = new Set(lists.keys())
    for (;;) {
      const free = [...left].filter(task => !lists[task]?.some(target => left.has(target)))
      if (free.length === 0) return left.size === 0
      for (const task of free) left.delete(task)
    }
  }
})
