import { describe, expect, test } from 'vitest'
import { foldEntries } from '../../src/core/apply-entry.ts'
import { stateDifference } from '../../src/core/state-difference.ts'
import { evidence, fakeRun, graph, outcome, task, type FakeRun } from '../support/fake-parts.ts'

const statuses = (run: FakeRun): Record<string, string> => Object.fromEntries(run.state.tasks.map(each => [each.spec.id, each.state.status]))
const replayed = (run: FakeRun, tasks: Parameters<typeof fakeRun>[0]): string | null =>
  stateDifference(foldEntries(tasks, 'run', run.state.policy, run.entries), run.state)

const diamond = graph(
  task('a'), task('b', { dependencies: ['a'] }), task('c', { dependencies: ['a'] }), task('d', { dependencies: ['b', 'c'] }), task('e', { dependencies: ['d'] }),
)

describe('an engine over fakes at the executor seam (R-107)', () => {
  test('a diamond of five completes in full, dependencies first (R-92, R-54)', async () => {
    const run = fakeRun(diamond)
    expect(await run.run()).toEqual({ kind: 'finished', result: { kind: 'complete' } })
    expect(statuses(run)).toEqual({ a: 'accepted', b: 'accepted', c: 'accepted', d: 'accepted', e: 'accepted' })
    expect(run.started).toEqual(['a/1', 'b/1', 'c/1', 'd/1', 'e/1'])
    expect(replayed(run, diamond)).toBe(null)
  })

  test('with one slot, higher priority starts first, then the longer remaining path (R-54)', async () => {
    const run = fakeRun(graph(task('low', { priority: -1 }), task('short'), task('long'), task('after', { dependencies: ['long'] }), task('high', { priority: 5 })), {
      policy: { maxConcurrency: 1 },
    })
    await run.run()
    expect(run.started.map(each => each.split('/')[0])).toEqual(['high', 'long', 'short', 'after', 'low'])
  })

  test('never more than maxConcurrency attempts are alive (R-27)', async () => {
    const wide = graph(...Array.from({ length: 12 }, (_, index) => task(`t${index}`)))
    const run: FakeRun = fakeRun(wide, {
      world: { attempt: async () => { await until(() => run.alive === 2 || run.started.length === 12); return outcome() } },
    })
    await run.run()
    expect(run.highWater).toBe(2)
  })

  test('a task whose check stays red has exactly three attempts and is handed off (R-28)', async () => {
    const run = fakeRun(graph(task('a')), { world: { check: () => evidence('failed') } })
    expect(await run.run()).toEqual({ kind: 'finished', result: { kind: 'incomplete' } })
    expect(run.started).toEqual(['a/1', 'a/2', 'a/3'])
    expect(statuses(run)).toEqual({ a: 'escalated' })
  })

  test('the failing output stands at the end of the next prompt', async () => {
    const run = fakeRun(graph(task('a')), { world: { check: (_, attempt) => evidence(attempt === 1 ? 'failed' : 'passed') } })
    await run.run()
    expect(run.prompts.get('a/1')).not.toContain('tail of failed')
    expect(run.prompts.get('a/2')?.slice(-200)).toContain('tail of failed')
  })

  test('dependents of a failed task are blocked by the root cause, others run (R-54, T13)', async () => {
    const run = fakeRun(graph(task('a'), task('b', { dependencies: ['a'] }), task('c', { dependencies: ['b'] }), task('d')), {
      world: { check: id => evidence(id === 'a' ? 'failed' : 'passed') },
    })
    expect(await run.run()).toEqual({ kind: 'finished', result: { kind: 'incomplete' } })
    expect(statuses(run)).toEqual({ a: 'escalated', b: 'blocked', c: 'blocked', d: 'accepted' })
    expect(run.state.byId.get('c')?.state).toEqual({ status: 'blocked', causes: ['a'] })
  })

  test('an attempt that changed nothing is tried once more, then handed off', async () => {
    const run = fakeRun(graph(task('a')), { world: { changed: () => false } })
    await run.run()
    expect(run.started).toEqual(['a/1', 'a/2'])
    expect(statuses(run)).toEqual({ a: 'escalated' })
  })

  test('without evidence nothing is accepted, unless the run says so (R-35)', async () => {
    const strict = fakeRun(graph(task('a')), { world: { check: () => evidence('skipped') } })
    await strict.run()
    expect(statuses(strict)).toEqual({ a: 'escalated' })
    const lenient = fakeRun(graph(task('a')), { policy: { acceptUnverified: true }, world: { check: () => evidence('skipped') } })
    await lenient.run()
    expect(statuses(lenient)).toEqual({ a: 'accepted' })
    expect(lenient.entries.find(entry => entry.kind === 'verdict')).toMatchObject({ verdict: { kind: 'unverified' } })
  })

  test('three equal spawn failures halt the run and name the executable (T14)', async () => {
    const failure = { reason: 'not-found', message: 'openclaude was not found on PATH', key: 'not-found openclaude' } as const
    const five = graph(...Array.from({ length: 5 }, (_, index) => task(`t${index}`)))
    const run = fakeRun(five, { world: { attempt: () => outcome('spawn-failed', { spawnFailure: failure, message: failure.message }) } })
    const end = await run.run()
    expect(end).toMatchObject({ kind: 'finished', result: { kind: 'halted', reason: 'breaker' } })
    expect(JSON.stringify(end)).toContain('openclaude was not found on PATH')
    expect(run.started.length).toBeLessThanOrEqual(15)
    expect(run.state.counts.accepted).toBe(0)
  })

  test('an advisor that accepts over a red check is refused, and its rounds run out (R-29, R-60, T21)', async () => {
    const run = fakeRun(graph(task('a')), {
      world: {
        check: () => evidence('failed'),
        advise: () => ({ kind: 'decided', decision: { kind: 'accept', reason: 'looks fine' }, askFile: null, answerFile: null }),
      },
    })
    await run.run()
    expect(statuses(run)).toEqual({ a: 'escalated' })
    const advice = run.entries.filter(entry => entry.kind === 'advice')
    expect(advice.map(entry => entry.result)).toEqual(['illegal', 'illegal', 'illegal', 'illegal', 'illegal'])
    expect(run.entries.some(entry => entry.kind === 'task-accepted')).toBe(false)
  })

  test('an advisor retry carries its guidance into the next prompt (R-60)', async () => {
    const run = fakeRun(graph(task('a')), {
      world: {
        check: (_, attempt) => evidence(attempt === 1 ? 'failed' : 'passed'),
        advise: () => ({ kind: 'decided', decision: { kind: 'retry', reason: 'r', guidance: 'mind the leap year' }, askFile: null, answerFile: null }),
      },
    })
    await run.run()
    expect(statuses(run)).toEqual({ a: 'accepted' })
    expect(run.prompts.get('a/2')).toContain('mind the leap year')
  })

  test('a split task closes through its children, and its dependents wait for them (R-61, R-102)', async () => {
    const children = [task('part-1'), task('part-2', { dependencies: ['part-1'] })]
    const run = fakeRun(graph(task('big'), task('after', { dependencies: ['big'] })), {
      world: {
        check: id => evidence(id === 'big' ? 'failed' : 'passed'),
        advise: () => ({ kind: 'decided', decision: { kind: 'split', reason: 'too big', tasks: children }, askFile: null, answerFile: null }),
      },
    })
    expect(await run.run()).toEqual({ kind: 'finished', result: { kind: 'complete' } })
    expect(run.started).toEqual(['big/1', 'part-1/1', 'part-2/1', 'after/1'])
    expect(statuses(run)).toEqual({ 'big': 'accepted', 'after': 'accepted', 'part-1': 'accepted', 'part-2': 'accepted' })
  })

  test('a judge that fails is run again once, and the attempt is not spent', async () => {
    let calls = 0
    const run = fakeRun(graph(task('a')), { world: { check: () => evidence(++calls === 1 ? 'unrunnable' : 'passed') } })
    await run.run()
    expect(calls).toBe(2)
    expect(run.started).toEqual(['a/1'])
    expect(statuses(run)).toEqual({ a: 'accepted' })
  })

  test('a stop ends children, keeps the attempt open, and the next engine goes on with the same attempt', async () => {
    const tasks = graph(task('a'), task('b', { dependencies: ['a'] }))
    const first = fakeRun(tasks, { world: { attempt: async (_, end) => outcome(await end === 'stop' ? 'stopped' : 'aborted') } })
    const ended = first.run()
    await until(() => first.started.length === 1)
    first.engine.stop('SIGTERM')
    expect(await ended).toEqual({ kind: 'stopped', reason: 'SIGTERM' })
    expect(statuses(first)).toEqual({ a: 'active', b: 'pending' })
    const second = fakeRun(tasks, { before: first.entries })
    expect(await second.run()).toEqual({ kind: 'finished', result: { kind: 'complete' } })
    expect(second.started).toEqual(['a/1', 'b/1'])
  })

  test('an abort ends the run and cancels what is open', async () => {
    const run = fakeRun(graph(task('a'), task('b', { dependencies: ['a'] })), { world: { attempt: async (_, end) => outcome(await end === 'abort' ? 'aborted' : 'stopped') } })
    const ended = run.run()
    await until(() => run.started.length === 1)
    await run.engine.control('01', 'ann', { kind: 'abort' })
    expect(await ended).toEqual({ kind: 'finished', result: { kind: 'aborted', by: 'ann' } })
    expect(statuses(run)).toEqual({ a: 'cancelled', b: 'cancelled' })
  })

  test('a failed task is reopened by hand and its dependents run without edits (T13)', async () => {
    const tasks = graph(task('a'), task('b', { dependencies: ['a'] }))
    const first = fakeRun(tasks, { world: { check: () => evidence('failed') } })
    await first.run()
    const second = fakeRun(tasks, { before: first.entries })
    second.engine.start({ before: [], after: [{ type: 'control', id: '02', by: 'ann', command: { kind: 'retry', task: 'a', guidance: 'try harder' } }] })
    expect(await second.engine.finished).toEqual({ kind: 'finished', result: { kind: 'complete' } })
    expect(second.started).toEqual(['a/4', 'b/1'])
  })

  test('a hand-off can be dropped, retried, and never accepted over a red check', async () => {
    const tasks = graph(task('a'))
    const first = fakeRun(tasks, { world: { check: () => evidence('failed') } })
    await first.run()
    const answer = (kind: 'accept' | 'drop'): Parameters<FakeRun['engine']['start']>[0] =>
      ({ before: [], after: [{ type: 'control', id: kind, by: 'ann', command: { kind: 'answer', task: 'a', answer: kind, note: 'n' } }] })
    const accepting = fakeRun(tasks, { before: first.entries })
    accepting.engine.start(answer('accept'))
    await accepting.engine.finished
    expect(statuses(accepting)).toEqual({ a: 'escalated' })
    const dropping = fakeRun(tasks, { before: first.entries })
    dropping.engine.start(answer('drop'))
    await dropping.engine.finished
    expect(statuses(dropping)).toEqual({ a: 'failed' })
  })

  test('a journal that fails poisons the engine: nothing further is started (F6)', async () => {
    let writes = 0
    const run = fakeRun(diamond, { append: () => (++writes > 3 ? Promise.reject(new Error('EIO')) : Promise.resolve()) })
    await expect(run.run()).rejects.toThrow('EIO')
    expect(run.entries.filter(entry => entry.kind === 'task-accepted')).toEqual([])
    expect(run.started.length).toBeLessThanOrEqual(1)
  })

  test('views hear of entries only after they are durable, in order', async () => {
    const durable: string[] = []
    const heard: string[] = []
    const run = fakeRun(graph(task('a')), {
      append: async (entries) => { await Promise.resolve(); durable.push(...entries.map(entry => entry.kind)) },
      observer: { entries: (entries) => { heard.push(...entries.map(entry => entry.kind)); expect(durable.slice(0, heard.length)).toEqual(heard) } },
    })
    await run.run()
    expect(heard).toEqual(durable)
  })

  test('an event of an older attempt is recorded as late and changes nothing', async () => {
    const run: FakeRun = fakeRun(graph(task('a')), {
      world: {
        attempt: async ({ attempt }) => {
          if (attempt === 2) run.engine.post({ type: 'attempt-outcome', task: 'a', attempt: 1, outcome: outcome('agent-error') })
          return outcome()
        },
        check: (_, attempt) => evidence(attempt === 1 ? 'failed' : 'passed'),
      },
    })
    await run.run()
    expect(run.entries.filter(entry => entry.kind === 'warning').map(entry => entry.code)).toEqual(['late-event'])
    expect(statuses(run)).toEqual({ a: 'accepted' })
  })

  test('the budget halts the run at the next decision, not in the middle of a launch', async () => {
    const run = fakeRun(graph(task('a'), task('b')), {
      policy: { maxConcurrency: 1, maxBudgetUsd: 0.5 },
      world: { attempt: () => outcome('succeeded', { costUsd: 0.6 }) },
    })
    const end = await run.run()
    expect(run.started.length).toBe(2)
    expect(end.kind).toBe('finished')
  })
})

async function until(condition: () => boolean): Promise<void> {
  const ceiling = performance.now() + 15_000
  while (!condition() && performance.now() < ceiling) await new Promise(resolve => setImmediate(resolve))
  expect(condition()).toBe(true)
}
