import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyEntry, foldEntries } from '../../src/core/apply-entry.ts'
import type { Entry } from '../../src/core/entry-types.ts'
import type { Effect, RunPolicy } from '../../src/core/run-types.ts'
import { attemptLimit, isStuck } from '../../src/core/run-state.ts'
import { fromSnapshot, toSnapshot } from '../../src/core/snapshot.ts'
import { stateDifference } from '../../src/core/state-difference.ts'
import { evidence, launchIntended, outcome, policy } from '../support/core-facts.ts'
import type { Tape } from '../support/core-tape.ts'
import { graphs, tapeOf, tapes, wildScript } from '../support/core-tape.ts'
import type { World } from '../support/core-world.ts'
import { STARTED, startWorld, world } from '../support/core-world.ts'

const policies: fc.Arbitrary<Partial<RunPolicy>> = fc.record({
  maxConcurrency: fc.integer({ min: 1, max: 4 }),
  maxRetriesPerTask: fc.integer({ min: 1, max: 3 }),
  maxSupervisionRounds: fc.integer({ min: 0, max: 5 }),
  maxReworks: fc.integer({ min: 0, max: 2 }),
  supervised: fc.boolean(),
  acceptUnverified: fc.boolean(),
  maxSplitChildren: fc.constantFrom(0, 6, 50),
  breakerLimit: fc.constantFrom(3, 1000),
})

/** Performs waiting effects in an order drawn from the tape, with late events and what people do in between; checks the invariants after each. */
function runWild(run: World, tape: Tape, interrupt: (run: World) => void = () => undefined): void {
  for (let steps = 0; run.pending.length > 0; steps += 1) {
    if (steps > 20_000) throw new Error('the run does not end')
    const effect = run.pending[tape.draw(run.pending.length)]
    if (effect === undefined) return
    if (tape.draw(6) === 1) late(run, effect)
    run.perform(effect)
    invariants(run)
    interrupt(run)
  }
}

/** Events of attempts that are over, or not yet at that point: each is one warning and nothing else. */
function late(run: World, effect: Effect): void {
  if (!('attempt' in effect)) return
  const { task } = effect
  const attempt = effect.attempt - 1
  const before = JSON.stringify(run.state.tasks)
  const entries = [
    ...run.send({ type: 'attempt-outcome', task, attempt, outcome: outcome('succeeded') }),
    ...run.send({ type: 'evidence', task, attempt, evidence: evidence('test', 'passed') }),
    ...run.send({ type: 'launch-fact', task, attempt, fact: launchIntended(1) }),
    ...run.send({ type: 'landed', task, attempt, commit: null }),
  ]
  expect(entries.map(entry => entry.kind === 'warning' ? entry.code : entry.kind)).toEqual(['late-event', 'late-event', 'late-event', 'late-event'])
  expect(JSON.stringify(run.state.tasks)).toBe(before)
}

function invariants({ state }: World): void {
  const broken: string[] = []
  let executing = 0
  for (const task of state.tasks) {
    const { status } = task.state
    if (task.state.status === 'active' && !task.state.attempt.suspended && ['preparing', 'executing'].includes(task.state.attempt.phase)) executing += 1
    if (task.attempts > attemptLimit(task, state.policy)) broken.push(`${task.spec.id} has ${task.attempts} attempts`)
    if (status !== 'accepted' && status !== 'active' && status !== 'landing') continue
    for (const id of task.spec.dependencies) if (state.byId.get(id)?.state.status !== 'accepted') broken.push(`${task.spec.id} is ${status} before ${id} is accepted`)
  }
  if (executing !== state.executing || executing > state.policy.maxConcurrency) broken.push(`${executing} execute, ${state.executing} are counted`)
  if (broken.length > 0) throw new Error(broken.join('; '))
}

/** Whatever happened: the run is over, nothing is under way, and each task that is not done has a reason a person can act on. */
function expectFinished(run: World): void {
  const { state } = run
  expect(state.status).toBe('finished')
  expect(state.executing).toBe(0)
  for (const task of state.tasks) {
    if (task.state.status !== 'blocked') continue
    for (const cause of task.state.causes) expect(isStuck(state.byId.get(cause) ?? task)).toBe(true)
  }
  if (state.result?.kind === 'halted') return
  const { accepted, failed, escalated, cancelled, blocked } = state.counts
  expect(accepted + failed + escalated + cancelled + blocked).toBe(state.tasks.length)
  expect(state.result?.kind === 'complete').toBe(accepted === state.tasks.length)
}

function acceptedOnce(entries: readonly Entry[]): void {
  const accepted = entries.flatMap(entry => entry.kind === 'task-accepted' ? [entry.task] : [])
  expect(new Set(accepted).size).toBe(accepted.length)
  const started = entries.flatMap(entry => entry.kind === 'attempt-started' ? [`${entry.task}/${entry.attempt}`] : [])
  expect(new Set(started).size).toBe(started.length)
}

describe('the run machine', () => {
  test('finishes every acyclic graph with each task done exactly once, in any order of events (R-54, R-92)', () => {
    fc.assert(fc.property(graphs, tapes, fc.integer({ min: 1, max: 4 }), (graph, numbers, maxConcurrency) => {
      const tape = tapeOf(numbers)
      const run = startWorld(graph, { policy: { maxConcurrency } })
      runWild(run, tape)
      expect(run.state.result).toEqual({ kind: 'complete' })
      expect(run.entries.filter(entry => entry.kind === 'attempt-started')).toHaveLength(graph.tasks.length)
      expect(run.entries.filter(entry => entry.kind === 'task-accepted')).toHaveLength(graph.tasks.length)
      expect(run.settles).toBe(1)
    }), { numRuns: 60 })
  })

  test('ends every run whatever attempts, judges, advisors and landings do, within all limits (R-27, R-28, R-29, R-60)', () => {
    fc.assert(fc.property(graphs, tapes, policies, (graph, numbers, over) => {
      const tape = tapeOf(numbers)
      const run = startWorld(graph, { policy: over, script: wildScript(tape) })
      runWild(run, tape)
      expectFinished(run)
      expect(run.settles).toBe(1)
      acceptedOnce(run.entries)
    }), { numRuns: 120 })
  })

  test('goes on from any prefix of its entries, keeps what was accepted and repeats no attempt number (F1)', () => {
    fc.assert(fc.property(graphs, tapes, policies, fc.nat(), (graph, numbers, over, cut) => {
      const tape = tapeOf(numbers)
      const first = startWorld(graph, { policy: over, script: wildScript(tape), checkFold: false })
      runWild(first, tape, meddle(tape))
      const entries = first.entries.slice(0, cut % (first.entries.length + 1))
      const finishedBefore = entries.some(entry => entry.kind === 'run-finished')
      const second = world(graph, { policy: over, script: wildScript(tape), entries })
      second.send(STARTED)
      runWild(second, tape)
      expectFinished(second)
      if (!finishedBefore) expect(second.settles).toBe(1)
      acceptedOnce(second.entries)
    }), { numRuns: 120 })
  })

  test('survives stops, restarts, aborts and what people ask for at any moment (F27, F28)', () => {
    fc.assert(fc.property(graphs, tapes, policies, (graph, numbers, over) => {
      const tape = tapeOf(numbers)
      let run = startWorld(graph, { policy: over, script: wildScript(tape) })
      for (let engines = 0; engines < 4; engines += 1) {
        runWild(run, tape, meddle(tape))
        if (run.state.status === 'finished' && run.state.result?.kind !== 'halted') break
        expect(run.state.executing).toBe(0)
        run.send({ type: 'engine-stopped', reason: 'left' })
        run = world(graph, { policy: over, script: wildScript(tape), entries: run.entries })
        run.send(STARTED)
      }
      runWild(run, tape)
      acceptedOnce(run.entries)
    }), { numRuns: 120 })
  })

  test('folds a prefix and then the rest to the same state as the whole, through a snapshot too', () => {
    fc.assert(fc.property(graphs, tapes, policies, fc.nat(), (graph, numbers, over, cut) => {
      const tape = tapeOf(numbers)
      const run = startWorld(graph, { policy: over, script: wildScript(tape), checkFold: false })
      runWild(run, tape, meddle(tape))
      const at = cut % (run.entries.length + 1)
      const state = foldEntries(graph, 'run', policy(over), run.entries.slice(0, at))
      const thawed = fromSnapshot(JSON.parse(JSON.stringify(toSnapshot(state))), state.policy)
      expect(stateDifference(thawed, state)).toBeNull()
      for (const each of [state, thawed]) for (const entry of run.entries.slice(at)) applyEntry(each, entry)
      expect(stateDifference(state, run.state)).toBeNull()
      expect(stateDifference(thawed, run.state)).toBeNull()
    }), { numRuns: 60 })
  })
})

function meddle(tape: Tape): (run: World) => void {
  let id = 0
  return run => {
    const kind = tape.draw(12)
    if (kind === 0 || kind > 6) return
    id += 1
    const task = run.state.tasks[tape.draw(run.state.tasks.length)]?.spec.id ?? 'none'
    const control = (command: Parameters<World['send']>[0] & { readonly type: 'control' }): unknown => run.send(command)
    if (kind === 1) control({ type: 'control', id: String(id), by: 'p', command: { kind: 'retry', task, guidance: '' } })
    else if (kind === 2) control({ type: 'control', id: String(id), by: 'p', command: { kind: 'answer', task, answer: tape.pick('retry', 'accept', 'drop'), note: 'n' } })
    else if (kind === 3) run.send({ type: 'suspended', gapMs: 1000, why: 'sleep' })
    else if (kind === 4 && tape.draw(3) === 1) run.send({ type: 'stop', reason: 'signal' })
    else if (kind === 5 && tape.draw(6) === 1) control({ type: 'control', id: String(id), by: 'p', command: { kind: 'abort' } })
    invariants(run)
  }
}
