/** Size: no recursion, no cost per idle task, no blow-up when much fails. Bounds are counts where possible; times are generous, the benchmark measures. */
import { describe, expect, test } from 'vitest'
import { foldEntries } from '../../src/core/apply-entry.ts'
import { MAX_CAUSES } from '../../src/core/run-state.ts'
import type { Graph } from '../../src/core/graph-types.ts'
import { graphOf, outcome, policy, spec } from '../support/core-facts.ts'
import { startWorld } from '../support/core-world.ts'

const chain = (length: number): Graph => ({ tasks: Array.from({ length }, (_, index) => spec(`t${index}`, index === 0 ? [] : [`t${index - 1}`])) })

describe('large graphs', () => {
  test('a chain of 100,000 tasks completes without recursion, and its entries fold again (R-92)', () => {
    const graph = chain(100_000)
    const run = startWorld(graph, { checkFold: false })
    run.run()
    expect([run.state.result, run.state.counts.accepted]).toEqual([{ kind: 'complete' }, 100_000])
    expect(foldEntries(graph, 'run', policy(), run.entries).counts.accepted).toBe(100_000)
  })

  test('100,000 tasks behind a failed one are blocked once each', () => {
    const run = startWorld(chain(100_000), { checkFold: false, script: { outcome: () => outcome('permission-wait') } })
    run.run()
    expect(run.entries.filter(entry => entry.kind === 'task-blocked')).toHaveLength(99_999)
  })

  test(`a task behind many failed ones names ${MAX_CAUSES} of them, and failures cost no more than that per task`, () => {
    const heads = Array.from({ length: 2_000 }, (_, index) => `h${index}`)
    const tail = Array.from({ length: 2_000 }, (_, index) => spec(`t${index}`, index === 0 ? heads : [`t${index - 1}`]))
    const run = startWorld({ tasks: [...heads.map(id => spec(id)), ...tail] }, { checkFold: false, script: { outcome: () => outcome('permission-wait') } })
    run.run()
    expect(run.state.counts).toMatchObject({ escalated: 2_000, blocked: 2_000 })
    expect(run.entries.filter(entry => entry.kind === 'task-blocked')).toHaveLength(2_000 * MAX_CAUSES)
    const last = run.state.tasks.at(-1)?.state
    expect(last?.status === 'blocked' ? last.causes : []).toHaveLength(MAX_CAUSES)
  })

  test('a hidden cause beyond the limit still blocks when the named ones are reopened', () => {
    const heads = Array.from({ length: MAX_CAUSES + 1 }, (_, index) => `h${index}`)
    const graph = graphOf({ ...Object.fromEntries(heads.map(id => [id, []])), join: heads, end: ['join'] })
    let healthy = false
    const run = startWorld(graph, { policy: { maxConcurrency: 1 }, script: { outcome: () => outcome(healthy ? 'succeeded' : 'permission-wait') } })
    run.run()
    healthy = true
    for (const id of heads.slice(0, MAX_CAUSES)) run.send({ type: 'control', id, by: 'me', command: { kind: 'retry', task: id, guidance: '' } })
    run.run()
    const causes = run.state.tasks.slice(-2).map(task => task.state.status === 'blocked' ? task.state.causes : [])
    expect(causes).toEqual([[`h${MAX_CAUSES}`], [`h${MAX_CAUSES}`]])
    run.send({ type: 'control', id: 'last', by: 'me', command: { kind: 'retry', task: `h${MAX_CAUSES}`, guidance: '' } })
    run.run()
    expect(run.state.result).toEqual({ kind: 'complete' })
  })
})
