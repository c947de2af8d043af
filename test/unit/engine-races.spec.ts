/** Requests that arrive at every instant of a run: at each append of the journal in turn, so that no interleaving of one batch is left out. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Entry, EntryKind } from '../../src/core/entry-types.ts'
import { historyFaults } from '../support/history-checker.ts'
import { evidence, fakeRun, graph, outcome, task, type FakeRun, type FakeRunOptions, type FakeWorld } from '../support/fake-parts.ts'
import { JOURNAL_VERSION } from '../../src/core/entry-types.ts'

const diamond = graph(
  task('a'), task('b', { dependencies: ['a'] }), task('c', { dependencies: ['a'] }), task('d', { dependencies: ['b', 'c'] }), task('e', { dependencies: ['d'] }),
)

const unhandled: unknown[] = []
const remember = (reason: unknown): void => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', remember))
afterAll(() => {
  process.off('unhandledRejection', remember)
  expect(unhandled).toEqual([])
})

const kinds = (entries: readonly Entry[]): readonly EntryKind[] => entries.map(entry => entry.kind)
const statuses = (run: FakeRun): readonly string[] => run.state.tasks.map(each => each.state.status)

/** Children that take a moment, and obey. */
const OBEDIENT: FakeWorld = {
  attempt: async (_, end) => {
    const asked = await Promise.race([end, tick()])
    return outcome(asked === undefined ? 'succeeded' : asked === 'abort' ? 'aborted' : 'stopped')
  },
  check: async () => {
    await tick()
    return evidence()
  },
}

/** Performs `act` in the middle of the n-th append: the batch is decided, and nothing of it took effect yet. */
function actingAt(n: number, act: (run: FakeRun) => void, options: FakeRunOptions = {}): FakeRun {
  let appends = 0
  const run: FakeRun = fakeRun(diamond, {
    world: OBEDIENT,
    ...options,
    append: async () => {
      appends += 1
      if (appends === n) act(run)
      await tick()
    },
  })
  return run
}

async function countAppends(): Promise<number> {
  let appends = 0
  const run = fakeRun(diamond, { world: OBEDIENT, append: async () => { appends += 1; await tick() } })
  await run.run()
  return appends
}

function expectSound(entries: readonly Entry[]): void {
  let engine = 0
  const records = entries.map((entry, index) => {
    if (entry.kind === 'engine-started') engine += 1
    return { header: { v: JOURNAL_VERSION, seq: index + 1, at: '', mono: 0, engine: Math.max(1, engine), prev: '' }, entry, offset: 0 }
  })
  expect(historyFaults(records)).toEqual([])
}

describe('a request at every instant of a run', () => {
  test('a stop is the last thing that the engine says, and the next engine finishes the run (F27)', async () => {
    const appends = await countAppends()
    for (let n = 1; n <= appends; n += 1) {
      const run = actingAt(n, ({ engine }) => engine.stop('SIGTERM'))
      const end = await run.run()
      await settled()
      expect([n, kinds(run.entries).filter(kind => kind === 'engine-stopped').length, kinds(run.entries).at(-1)]).toEqual([n, 1, 'engine-stopped'])
      if (end.kind === 'finished') continue
      const next = fakeRun(diamond, { world: OBEDIENT, before: run.entries })
      expect([n, await next.run()]).toEqual([n, { kind: 'finished', result: { kind: 'complete' } }])
      expect([n, kinds(next.entries).filter(kind => kind === 'task-accepted').length]).toEqual([n, 5])
      expectSound(next.entries)
    }
  })

  test('a stop and a second signal at once end it all the same', async () => {
    const appends = await countAppends()
    for (let n = 1; n <= appends; n += 1) {
      const run = actingAt(n, ({ engine }) => { engine.stop('SIGINT'); engine.stopNow('SIGINT') })
      await run.run()
      await settled()
      expect([n, kinds(run.entries).at(-1), run.alive]).toEqual([n, 'engine-stopped', 0])
    }
  })

  test('a second signal reaches a child that was started by the very turn that it came in', async () => {
    const appends = await countAppends()
    for (let n = 1; n <= appends; n += 1) {
      const asked: string[] = []
      const run = actingAt(n, ({ engine }) => engine.stopNow('SIGINT'), {
        world: { attempt: async (_, end) => { const how = await Promise.race([end, tick()]); if (how !== undefined) asked.push(how); return outcome(how === undefined ? 'succeeded' : 'stopped') } },
      })
      await run.run()
      expect([n, asked.filter(how => how !== 'now')]).toEqual([n, []])
    }
  })

  test('an abort, twice, ends the run once and cancels what is open', async () => {
    const appends = await countAppends()
    for (let n = 1; n < appends; n += 1) {
      const run = actingAt(n, ({ engine }) => {
        engine.control('1', 'ann', { kind: 'abort' }).catch(() => undefined)
        engine.control('2', 'ann', { kind: 'abort' }).catch(() => undefined)
      })
      const end = await run.run()
      await settled()
      expect([n, end.kind, kinds(run.entries).filter(kind => kind === 'run-finished').length]).toEqual([n, 'finished', 1])
      expect([n, statuses(run).filter(status => status !== 'accepted' && status !== 'cancelled')]).toEqual([n, []])
      expect([n, kinds(run.entries).at(-1)]).toEqual([n, 'engine-stopped'])
      expectSound(run.entries)
    }
  })

  test('an interrupted run can be aborted whatever its attempts were doing', async () => {
    const whole = fakeRun(diamond, { world: OBEDIENT })
    await whole.run()
    const created = kinds(whole.entries).indexOf('engine-started') + 1
    for (let cut = created; cut < kinds(whole.entries).lastIndexOf('task-accepted'); cut += 1) {
      const next = fakeRun(diamond, { world: OBEDIENT, before: whole.entries.slice(0, cut) })
      next.engine.start({ before: [], after: [{ type: 'control', id: 'direct', by: 'ann', command: { kind: 'abort' } }] })
      expect([cut, await next.engine.finished]).toEqual([cut, { kind: 'finished', result: { kind: 'aborted', by: 'ann' } }])
      expect([cut, statuses(next).filter(status => status !== 'accepted' && status !== 'cancelled')]).toEqual([cut, []])
    }
  })

  test('a retry that comes while the run ends is carried out, or left for the next engine', async () => {
    const tasks = graph(task('a'))
    let checks = 0
    const answers: string[] = []
    const run: FakeRun = fakeRun(tasks, {
      world: { check: () => evidence(++checks <= 3 ? 'failed' : 'passed') },
      append: async () => {
        if (answers.length === 0 && run.state.status === 'finished') {
          answers.push('sent')
          run.engine.control('1', 'ann', { kind: 'retry', task: 'a', guidance: '' }).then(() => answers.push('taken'), () => answers.push('refused'))
        }
        await tick()
      },
    })
    const end = await run.run()
    expect(answers).toEqual(['sent', 'taken'])
    expect(end).toEqual({ kind: 'finished', result: { kind: 'complete' } })
    expect(kinds(run.entries).at(-1)).toBe('engine-stopped')
  })
})

describe('parts that fail', () => {
  test('a view that throws is told and left out; the run goes on', async () => {
    const run = fakeRun(diamond, { observer: { entries: () => { throw new Error('no terminal') } } })
    expect(await run.run()).toEqual({ kind: 'finished', result: { kind: 'complete' } })
    expect(run.entries.filter(entry => entry.kind === 'warning').map(entry => entry.code)).toEqual(['observer-failed'])
  })

  test('after a part that must not fail has failed, nothing more is written (F6)', async () => {
    const run = fakeRun(graph(task('a'), task('b'), task('c')), {
      world: {
        attempt: async ({ task: id }) => { await tick(); await tick(); return id === 'a' ? Promise.reject(new Error('disk on fire')) : outcome() },
      },
    })
    await expect(run.run()).rejects.toThrow('disk on fire')
    const written = run.entries.length
    for (let n = 0; n < 50; n += 1) await tick()
    expect(run.entries.length).toBe(written)
  })

  test('standing still is told (F12)', async () => {
    const listeners = new Set<(suspension: { readonly why: 'sleep' | 'pause', readonly gapMs: number }) => void>()
    const run: FakeRun = fakeRun(graph(task('a')), {
      suspensions: { listen: (listener) => { listeners.add(listener); return () => void listeners.delete(listener) } },
      world: { attempt: async () => { for (const listener of listeners) listener({ why: 'sleep', gapMs: 5000 }); await tick(); return outcome() } },
    })
    await run.run()
    expect(run.entries.filter(entry => entry.kind === 'engine-suspended')).toEqual([{ kind: 'engine-suspended', why: 'sleep', gapMs: 5000 }])
    expect(listeners.size).toBe(0)
  })
})

function tick(): Promise<undefined> {
  return new Promise(resolve => setImmediate(() => resolve(undefined)))
}

/** Everything that was under way has come to rest. */
async function settled(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await tick()
}
