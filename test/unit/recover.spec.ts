import { describe, expect, test } from 'vitest'
import type { Advice } from '../../src/core/evidence-types.ts'
import type { RunEvent } from '../../src/core/run-types.ts'
import { graphOf, launchIntended, outcome, spec, verdict } from '../support/core-facts.ts'
import type { World, WorldOptions } from '../support/core-world.ts'
import { STARTED, startWorld, statuses, world } from '../support/core-world.ts'

const ONE = graphOf({ a: [] })
const PATCH: Advice = { kind: 'decided', askFile: null, answerFile: null, decision: { kind: 'patch', reason: 'r', edits: [{ path: 'f', content: '' }] } }
const SUPERVISED: WorldOptions = { policy: { supervised: true }, script: { verdict: () => verdict('rejected'), advice: () => PATCH } }

/** A second engine on the entries of the first, cut before the entry `cutAt` where one is given. */
function restart(run: World, options: WorldOptions = {}, cutAt?: string): World {
  const cut = cutAt === undefined ? -1 : run.entries.findLastIndex(entry => entry.kind === cutAt)
  const next = world(run.graph, { ...options, entries: cut < 0 ? run.entries : run.entries.slice(0, cut) })
  next.send(STARTED)
  return next
}

describe('an engine that starts on a run asks again for what has no outcome', () => {
  test.each([
    ['prepare-workspace', {}],
    ['execute', {}],
    ['judge', {}],
    ['land', {}],
    ['advise', SUPERVISED],
    ['plan-patch', SUPERVISED],
    ['apply-patch', SUPERVISED],
  ] as const)('%s', (kind, options) => {
    const run = startWorld(ONE, options)
    run.run(effect => effect.kind === kind)
    expect(restart(run, options).pending).toEqual(run.pending)
  })

  test('with the launches that already happened', () => {
    const run = startWorld(ONE)
    run.run(effect => effect.kind === 'execute')
    run.send({ type: 'launch-fact', task: 'a', attempt: 1, fact: launchIntended(1) })
    run.send({ type: 'launch-fact', task: 'a', attempt: 1, fact: { kind: 'launch-live', launch: 1, keeper: null, child: null } })
    const task = restart(run).state.tasks[0]
    expect(task?.state.status === 'active' ? task.state.attempt.launches.launches.map(launch => [launch.launch, launch.status]) : null).toEqual([[1, 'live']])
  })
})

describe('an engine that starts completes what a torn batch left undone', () => {
  const child = spec('c')
  const SPLIT: WorldOptions = {
    policy: { supervised: true },
    script: {
      verdict: task => verdict(task === 'c' ? 'verified' : 'rejected'),
      advice: () => ({ kind: 'decided', askFile: null, answerFile: null, decision: { kind: 'split', reason: 'r', tasks: [child] } }),
    },
  }

  test('a split that was decided', () => {
    const run = startWorld(ONE, SPLIT)
    run.run(effect => effect.kind === 'execute' && effect.task === 'c')
    expect(statuses(restart(run, SPLIT, 'task-split'))).toEqual({ a: 'split', c: 'active' })
  })

  test('a split that became impossible goes to a person', () => {
    const run = startWorld(ONE, SPLIT)
    run.run(effect => effect.kind === 'execute' && effect.task === 'c')
    const next = restart(run, { ...SPLIT, policy: { supervised: true, maxSplitChildren: 0 } }, 'task-split')
    expect(next.state.tasks[0]?.state).toEqual({ status: 'escalated', handoff: 'h1', reason: "The split can't be made any more. The run would have 1 tasks from splits; 0 are allowed." })
  })

  test('a join whose last child was accepted', () => {
    const run = startWorld(ONE, SPLIT)
    run.run()
    expect([run.state.result, restart(run, SPLIT, 'task-accepted').state.result]).toEqual([{ kind: 'complete' }, { kind: 'complete' }])
  })

  test('a landing that is on record is not done twice', () => {
    const run = startWorld(ONE)
    run.run()
    const next = restart(run, {}, 'task-accepted')
    expect([next.pending, statuses(next)]).toEqual([[], { a: 'accepted' }])
  })

  test('an escalation that was decided', () => {
    const options: WorldOptions = { script: { verdict: () => verdict('unverified') } }
    const run = startWorld(ONE, options)
    run.run()
    expect(statuses(restart(run, options, 'handoff-opened'))).toEqual({ a: 'escalated' })
  })

  test('blocked tasks, with all their causes', () => {
    const graph = graphOf({ x: [], y: [], z: ['x'], w: ['z', 'y'] })
    const options: WorldOptions = { script: { outcome: () => outcome('permission-wait') } }
    const run = startWorld(graph, options)
    run.run()
    const cut = run.entries.findIndex(entry => entry.kind === 'task-blocked')
    const next = world(graph, { ...options, entries: run.entries.slice(0, cut) })
    next.send(STARTED)
    next.run()
    expect(next.state.tasks.map(task => task.state.status === 'blocked' ? [...task.state.causes].sort() : task.state.status)).toEqual(['escalated', 'escalated', ['x'], ['x', 'y']])
  })

  test('a task whose reworks are used up', () => {
    const options: WorldOptions = { script: { land: () => 'conflict' } }
    const run = startWorld(ONE, options)
    run.run()
    expect(statuses(restart(run, options, 'handoff-opened'))).toEqual({ a: 'escalated' })
  })
})

describe('an engine that starts on a finished run', () => {
  test('has nothing to do', () => {
    const run = startWorld(ONE)
    run.run()
    const next = restart(run)
    expect([next.pending, next.settles]).toEqual([[], 1])
  })

  test('takes over the attempts that an abort had left running, and ends them', () => {
    const run = startWorld(graphOf({ a: [], b: [], c: [] }))
    run.perform(run.pending[0] ?? { kind: 'settle' })
    run.send({ type: 'control', id: '1', by: 'me', command: { kind: 'abort' } })
    const next = restart(run, {}, 'task-cancelled')
    expect(next.pending).toEqual([{ kind: 'execute', task: 'a', attempt: 1 }, { kind: 'end-attempts', how: 'abort' }])
    expect(next.settles).toBe(0)
    next.perform({ kind: 'end-attempts', how: 'abort' })
    expect([statuses(next), next.settles]).toEqual([{ a: 'cancelled', b: 'cancelled', c: 'cancelled' }, 1])
  })

  test('finishes a landing that an abort had left under way', () => {
    const run = startWorld(ONE)
    run.run(effect => effect.kind === 'land')
    run.send({ type: 'control', id: '1', by: 'me', command: { kind: 'abort' } })
    const next = restart(run)
    next.run()
    expect(statuses(next)).toEqual({ a: 'accepted' })
  })

  test('suspends the attempts that a halt had left running, and a retry goes on with them', () => {
    const graph = graphOf({ a: [], b: [] })
    const run = startWorld(graph, { policy: { breakerLimit: 1 } })
    run.run(effect => effect.kind === 'execute')
    run.send({ type: 'attempt-outcome', task: 'a', attempt: 1, outcome: outcome('spawn-failed') })
    expect(run.state.result?.kind).toBe('halted')
    const next = restart(run)
    expect(next.pending).toEqual([{ kind: 'execute', task: 'b', attempt: 1 }, { kind: 'end-attempts', how: 'stop' }])
    next.perform({ kind: 'end-attempts', how: 'stop' })
    expect([next.settles, statuses(next), next.state.executing]).toEqual([1, { a: 'ready', b: 'active' }, 0])
    next.pending.splice(0)
    next.send({ type: 'control', id: '1', by: 'me', command: { kind: 'retry', task: 'a', guidance: '' } })
    expect(next.pending).toEqual([{ kind: 'execute', task: 'b', attempt: 1 }, { kind: 'prepare-workspace', task: 'a', attempt: 2 }])
    next.run()
    expect(next.state.result).toEqual({ kind: 'complete' })
  })
})

describe('events of the engine itself', () => {
  test('are entries and nothing else', () => {
    const events: readonly RunEvent[] = [
      { type: 'suspended', gapMs: 9000, why: 'sleep' },
      { type: 'warning', code: 'drift', message: 'unknown record' },
      { type: 'warning', task: 'a', attempt: 1, code: 'drift', message: 'unknown record' },
    ]
    const run = startWorld(ONE)
    const pending = [...run.pending]
    expect(events.flatMap(event => run.send(event))).toEqual([
      { kind: 'engine-suspended', gapMs: 9000, why: 'sleep' },
      { kind: 'warning', code: 'drift', message: 'unknown record' },
      { kind: 'warning', task: 'a', attempt: 1, code: 'drift', message: 'unknown record' },
    ])
    expect(run.pending).toEqual(pending)
  })

  test('created schedules nothing: that is the business of the engine that starts', () => {
    const run = world(ONE)
    expect(run.send({ type: 'created', graphSha256: 'sha' })).toEqual([{ kind: 'run-created', run: 'run', tasks: 1, graphSha256: 'sha' }])
    expect(run.pending).toEqual([])
  })
})
