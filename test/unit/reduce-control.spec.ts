import { describe, expect, test } from 'vitest'
import type { ControlCommand } from '../../src/core/run-types.ts'
import type { Entry } from '../../src/core/entry-types.ts'
import { evidence, graphOf, outcome, spec, verdict } from '../support/core-facts.ts'
import type { Script, World } from '../support/core-world.ts'
import { STARTED, kindsOf, startOrder, startWorld, statuses, world } from '../support/core-world.ts'

const CHAIN = graphOf({ a: [], b: ['a'], c: ['b'], d: [] })
const send = (run: World, command: ControlCommand): Entry[] => run.send({ type: 'control', id: 'c1', by: 'me', command })
const kinds = (entries: readonly Entry[]): readonly string[] => entries.map(entry => entry.kind)
const warning = (entries: readonly Entry[]): string | undefined => entries.flatMap(entry => entry.kind === 'warning' ? [`${entry.code}: ${entry.message}`] : [])[0]

function escalated(script: Script = { verdict: () => verdict('unverified') }, graph = graphOf({ a: [], b: ['a'] })): World {
  const run = startWorld(graph, { script })
  run.run()
  return run
}

/** Workspace of `a` ready, that of `d` under way. */
function performFirst(run: World): void {
  run.perform(run.pending[0] ?? { kind: 'settle' })
}

describe('stop', () => {
  test('ends children without closing attempts; the next engine goes on with the same attempt (F27)', () => {
    const run = startWorld(CHAIN)
    performFirst(run)
    expect(kinds(run.send({ type: 'stop', reason: 'SIGTERM' }))).toEqual(['engine-stopping', 'attempt-suspended'])
    expect(run.pending.filter(effect => effect.kind === 'end-attempts')).toEqual([{ kind: 'end-attempts', how: 'stop' }])
    expect(run.settles).toBe(0)
    run.perform({ kind: 'end-attempts', how: 'stop' })
    expect([run.state.status, run.state.executing, run.settles]).toEqual(['stopping', 0, 1])
    run.send({ type: 'engine-stopped', reason: 'SIGTERM' })
    const next = world(CHAIN, { entries: run.entries })
    next.send(STARTED)
    expect(next.pending).toEqual([{ kind: 'execute', task: 'a', attempt: 1 }, { kind: 'prepare-workspace', task: 'd', attempt: 1 }])
    next.run()
    expect(startOrder(next)).toEqual(['a/1', 'd/1', 'b/1', 'c/1'])
    expect(next.state.result).toEqual({ kind: 'complete' })
  })

  test('by a person does the same, and a second one changes nothing', () => {
    const run = startWorld(CHAIN)
    expect(kinds(send(run, { kind: 'stop' }))).toEqual(['control-received', 'engine-stopping', 'attempt-suspended', 'attempt-suspended'])
    expect(kinds(send(run, { kind: 'stop' }))).toEqual(['control-received'])
    expect(kinds(run.send({ type: 'stop', reason: 'SIGINT' }))).toEqual([])
    expect(run.settles).toBe(1)
  })

  test('starts and decides nothing more; verdicts that still come are recorded and decided by the next engine', () => {
    const run = startWorld(graphOf({ a: [], b: [] }), { policy: { maxConcurrency: 1 } })
    run.run(effect => effect.kind === 'judge')
    run.send({ type: 'stop', reason: 'SIGTERM' })
    run.run()
    expect(kindsOf(run, 'a').at(-1)).toBe('verdict')
    const next = world(graphOf({ a: [], b: [] }), { entries: run.entries })
    next.send(STARTED)
    expect(next.pending).toEqual([{ kind: 'land', task: 'a', attempt: 1 }, { kind: 'execute', task: 'b', attempt: 1 }])
  })
})

describe('abort', () => {
  test('cancels what is open, ends children, and finishes as aborted before they are gone (R-49)', () => {
    const run = startWorld(CHAIN)
    performFirst(run)
    expect(kinds(send(run, { kind: 'abort' }))).toEqual(['control-received', 'run-finished', 'task-cancelled', 'task-cancelled', 'task-cancelled'])
    expect([run.state.result, statuses(run), run.settles]).toEqual([{ kind: 'aborted', by: 'me' }, { a: 'active', b: 'cancelled', c: 'cancelled', d: 'cancelled' }, 0])
    run.send({ type: 'attempt-outcome', task: 'a', attempt: 1, outcome: outcome('aborted') })
    expect([statuses(run).a, run.settles]).toEqual(['cancelled', 1])
  })

  test('keeps accepted tasks and open hand-offs as they are', () => {
    const run = startWorld(CHAIN, { policy: { maxConcurrency: 1 }, script: { outcome: task => outcome(task === 'd' ? 'permission-wait' : 'succeeded') } })
    run.run(effect => effect.kind === 'execute' && effect.task === 'b')
    send(run, { kind: 'abort' })
    run.run()
    expect(statuses(run)).toEqual({ a: 'accepted', b: 'cancelled', c: 'cancelled', d: 'escalated' })
  })

  test('of a finished run says so', () => {
    const run = startWorld(CHAIN)
    run.run()
    expect(warning(send(run, { kind: 'abort' }))).toBe('control-ignored: The run has finished (complete); there is nothing to abort.')
  })

  test('is undone task by task: a retried one starts, or is blocked by what was cancelled before it', () => {
    const run = startWorld(CHAIN)
    send(run, { kind: 'abort' })
    expect(kinds(send(run, { kind: 'retry', task: 'c', guidance: '' }))).toEqual(['control-received', 'run-reopened', 'decision', 'task-blocked', 'run-finished'])
    expect(statuses(run)).toEqual({ a: 'cancelled', b: 'cancelled', c: 'blocked', d: 'cancelled' })
    send(run, { kind: 'retry', task: 'b', guidance: '' })
    send(run, { kind: 'retry', task: 'a', guidance: '' })
    run.run()
    expect(statuses(run)).toEqual({ a: 'accepted', b: 'accepted', c: 'accepted', d: 'cancelled' })
    expect(run.state.result).toEqual({ kind: 'incomplete' })
  })
})

describe('retry', () => {
  test('gives the attempts of maxRetriesPerTask once more, with the person as the source of the guidance', () => {
    const run = startWorld(graphOf({ a: [] }), { script: { verdict: () => verdict('rejected') } })
    run.run()
    send(run, { kind: 'retry', task: 'a', guidance: 'use the other API' })
    const task = run.state.tasks[0]
    expect(task?.state.status === 'active' ? [task.state.attempt.kind, task.state.attempt.guidance, task.state.attempt.guidanceSource] : null)
      .toEqual(['retry', 'use the other API', 'person'])
    run.run()
    expect(startOrder(run)).toEqual(['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'a/6'])
  })

  test('of a task in a live run frees what it blocked, and the others are not disturbed', () => {
    let healthy = false
    const run = startWorld(CHAIN, {
      policy: { maxConcurrency: 1 },
      script: { outcome: task => outcome(task === 'a' && !healthy ? 'permission-wait' : 'succeeded') },
    })
    run.run(effect => effect.kind === 'prepare-workspace' && effect.task === 'd')
    healthy = true
    expect(kinds(send(run, { kind: 'retry', task: 'a', guidance: '' }))).toEqual(['control-received', 'handoff-answered', 'task-unblocked', 'task-unblocked'])
    run.run()
    expect(run.state.result).toEqual({ kind: 'complete' })
  })

  test('of one cause leaves what has another cause blocked by that one', () => {
    const run = startWorld(graphOf({ x: [], y: [], z: ['x', 'y'] }), { script: { outcome: () => outcome('permission-wait') } })
    run.run()
    const causes = (): unknown => run.state.tasks.map(task => task.state.status === 'blocked' ? task.state.causes : task.state.status)
    expect(causes()).toEqual(['escalated', 'escalated', ['x', 'y']])
    send(run, { kind: 'retry', task: 'x', guidance: '' })
    expect(causes()).toEqual(['active', 'escalated', ['y']])
  })

  test.each([
    ['nobody', 'control-ignored: The run has no task "nobody".'],
    ['b', 'control-ignored: Task "b" is blocked by a; retry these.'],
    ['d', 'control-ignored: Task "d" is accepted; only failed, escalated and cancelled tasks can be retried.'],
  ])('of %s is refused with the reason', (task, message) => {
    const run = startWorld(CHAIN, { script: { outcome: id => outcome(id === 'a' ? 'permission-wait' : 'succeeded') } })
    run.run()
    expect(warning(send(run, { kind: 'retry', task, guidance: '' }))).toBe(message)
    expect(run.state.status).toBe('finished')
  })

  test('of a tainted attempt begins with a fresh tree', () => {
    const run = startWorld(graphOf({ a: [] }), { policy: { maxRetriesPerTask: 1 }, script: { outcome: () => outcome('tainted') } })
    run.run()
    send(run, { kind: 'retry', task: 'a', guidance: '' })
    expect(run.entries.findLast(entry => entry.kind === 'attempt-started')).toEqual({ kind: 'attempt-started', task: 'a', attempt: 2, attemptKind: 'retry', freshTree: true })
  })

  test('of a split task that was cancelled goes back to its children and closes at once when they are done', () => {
    const run = startWorld(graphOf({ a: [] }), {
      policy: { supervised: true, maxConcurrency: 1 },
      script: {
        verdict: task => verdict(task === 'a' ? 'rejected' : 'verified'),
        advice: () => ({ kind: 'decided', askFile: null, answerFile: null, decision: { kind: 'split', reason: 'r', tasks: [spec('c')] } }),
      },
    })
    run.run(effect => effect.kind === 'land')
    send(run, { kind: 'abort' })
    run.run()
    expect(statuses(run)).toEqual({ a: 'cancelled', c: 'accepted' })
    send(run, { kind: 'retry', task: 'a', guidance: '' })
    expect([statuses(run), run.state.result]).toEqual([{ a: 'accepted', c: 'accepted' }, { kind: 'complete' }])
  })
})

describe('answers to a hand-off', () => {
  test('accept lands the attempt with the note, frees what waited, and the verdict stays', () => {
    const run = escalated()
    expect(kinds(send(run, { kind: 'answer', task: 'a', answer: 'accept', note: 'read it myself' }))).toEqual(['control-received', 'run-reopened', 'handoff-answered', 'task-unblocked', 'land-intended'])
    run.run(effect => effect.kind === 'judge')
    expect(run.entries.find(entry => entry.kind === 'task-accepted')).toEqual({ kind: 'task-accepted', task: 'a', attempt: 1, evidence: ['test-key'], commit: 'commit-a', note: 'read it myself' })
    expect(run.state.tasks[0]?.last?.verdict?.kind).toBe('unverified')
  })

  test.each([
    ['over a red required check', { verdict: () => verdict('rejected'), checks: () => [evidence('test', 'failed')] }, 'Required checks are red: test.'],
    ['of a tainted attempt', { outcome: () => outcome('tainted') }, 'The attempt is tainted: processes it started could not be ended.'],
  ])('accept %s is refused, whoever asks', (_, script, reason) => {
    const run = escalated(script)
    expect(warning(send(run, { kind: 'answer', task: 'a', answer: 'accept', note: 'trust me' }))).toBe(`control-ignored: Task "a" can't be accepted. ${reason}`)
    expect(statuses(run).a).toBe('escalated')
  })

  test('accept of a task that never had a work tree is refused', () => {
    const run = startWorld(graphOf({ a: [] }), { policy: { breakerLimit: 99 } })
    for (const attempt of [1, 2, 3]) run.send({ type: 'workspace-failed', task: 'a', attempt, message: 'gone' })
    expect(warning(send(run, { kind: 'answer', task: 'a', answer: 'accept', note: '' }))).toBe('control-ignored: Task "a" can\'t be accepted. No attempt of the task left anything to accept.')
  })

  test('retry is the same as the command', () => {
    const run = escalated()
    send(run, { kind: 'answer', task: 'a', answer: 'retry', note: 'again' })
    expect(startOrder(run)).toEqual(['a/1', 'a/2'])
  })

  test('drop fails the task for good; what waits for it stays blocked by it', () => {
    const run = escalated()
    expect(kinds(send(run, { kind: 'answer', task: 'a', answer: 'drop', note: 'not needed' }))).toEqual(['control-received', 'handoff-answered', 'task-failed'])
    expect(run.state.tasks.map(task => task.state)).toEqual([{ status: 'failed', reason: 'not needed' }, { status: 'blocked', causes: ['a'] }])
    expect(run.state.result).toEqual({ kind: 'incomplete' })
  })

  test('without an open hand-off are refused', () => {
    const run = startWorld(graphOf({ a: [] }))
    expect(warning(send(run, { kind: 'answer', task: 'a', answer: 'drop', note: '' }))).toBe('control-ignored: Task "a" is active: no hand-off is open.')
  })

  test('accept that does not land comes back as rework', () => {
    const run = escalated({ verdict: () => verdict('unverified'), land: () => 'conflict' }, graphOf({ a: [] }))
    send(run, { kind: 'answer', task: 'a', answer: 'accept', note: '' })
    run.run(effect => effect.kind === 'execute')
    expect(run.entries.findLast(entry => entry.kind === 'attempt-started')).toMatchObject({ attempt: 2, attemptKind: 'rework' })
  })
})
