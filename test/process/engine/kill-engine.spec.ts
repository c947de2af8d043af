/**
 * The engine is killed at random instants, or told to leave, while real children of the simulator run under real keepers (F9, F27, T17).
 * `OC_KILLS=100` takes that many instants instead of the default.
 */
import { readdirSync, writeFileSync } from 'node:fs'
import { readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../src/core/entry-types.ts'
import type { Scenario } from '../../../src/simulator/scenario.ts'
import { cliRig, livePids, untilEntry, type CliProcess, type CliRig } from '../../support/cli-rig.ts'
import { expectSoundHistory } from '../../support/history-checker.ts'
import { waitFor } from '../../support/wait-for.ts'

const KILLS = Number(process.env['OC_KILLS'] ?? 15)

const DIAMOND = {
  tasks: [
    { id: 'a' }, { id: 'b', dependencies: ['a'] }, { id: 'c', dependencies: ['a'] }, { id: 'd', dependencies: ['b', 'c'] }, { id: 'e', dependencies: ['d'] },
  ],
}

/** A child that takes a while, in steps. */
const SLOW: Scenario = {
  rules: [{
    when: { promptMatches: '^Task: ([^\\n]+)' },
    play: [{ do: 'bash', command: 'sleep 0.3' }, { do: 'write', path: '{{1}}.txt', content: '{{1}}\n' }, { do: 'bash', command: 'sleep 0.3' }, { do: 'text', text: 'Done.' }],
  }],
}

/** Waits for the word of a person, without end. */
const WAITING: Scenario = {
  rules: [
    { when: { launch: 'fresh' }, times: 1, play: [{ do: 'bash', command: 'while [ ! -e go ]; do sleep 0.1; done' }, { do: 'text', text: 'never said' }] },
    { play: [{ do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'Done.' }] },
  ],
}

describe('kill -9 of the engine', () => {
  test(`at ${KILLS} random instants of a diamond over real children: each task accepted once, each child ran to a result once, nothing left (F28)`, { timeout: 60_000 * KILLS }, async () => {
    let left = KILLS
    while (left > 0) {
      const rig = cliRig({ scenario: SLOW })
      const graph = rig.writeGraph(DIAMOND)
      let engine = rig.start(['run', graph])
      const instants: number[] = []
      // A few kills per run: recoveries are recovered from, too.
      for (let kill = 0; kill < 4 && left > 0; kill += 1) {
        const instant = Math.round(Math.random() * 5000)
        instants.push(instant)
        if (!await killAfter(rig, engine, instant)) break
        left -= 1
        engine = rig.start(['resume'])
      }
      const ended = await engine.ended
      expect([instants, ended.code, ended.stderr.includes('Error')]).toEqual([instants, 0, false])
      await expectWholeAndSound(rig, instants)
    }
  })

  test('the lock of a killed engine is free at once (F9)', async () => {
    const rig = cliRig({ scenario: WAITING })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    await untilEntry(rig, 'a live launch', entry => entry.kind === 'launch-live')
    first.child.kill('SIGKILL')
    await first.ended
    const begun = performance.now()
    const probe = await rig.run(['status'])
    const start = performance.now() - begun
    const next = rig.start(['resume'])
    const asked = performance.now()
    await untilEntry(rig, 'the next engine', entry => entry.kind === 'engine-started' && entry.pid === next.pid)
    // What a command costs anyway is not the lock's: the rest stays below a second.
    expect(performance.now() - asked - start).toBeLessThan(1000)
    expect(probe.code).toBe(0)
    rig.project.write('go', '')
    await next.ended
  })

  test('during attempt 2 of 3, with a journal torn twice: no finished task is done again (T17)', async () => {
    const scenario: Scenario = {
      rules: [
        { when: { prompt: 'Task: a' }, times: 1, play: [{ do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'Done.' }] },
        { when: { prompt: 'broken is there' }, play: [{ do: 'wait-for-file', path: 'go' }, { do: 'delete', path: 'broken' }, { do: 'write', path: 'b.txt', content: 'x' }, { do: 'text', text: 'Done.' }] },
        { when: { prompt: 'Task: b' }, times: 1, play: [{ do: 'write', path: 'broken', content: 'x' }, { do: 'text', text: 'Done.' }] },
      ],
    }
    const rig = cliRig({ scenario })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }, { id: 'b', dependencies: ['a'] }] })])
    await untilEntry(rig, 'attempt 2', entry => entry.kind === 'launch-live' && entry.task === 'b' && entry.attempt === 2)
    first.child.kill('SIGKILL')
    await first.ended
    for (let tear = 0; tear < 2; tear += 1) {
      await cutLastLine(rig.journalPath())
      const next = rig.start(['resume'])
      await untilEntry(rig, 'the next engine', entry => entry.kind === 'engine-started' && entry.pid === next.pid)
      next.child.kill('SIGKILL')
      await next.ended
    }
    rig.project.write('go', '')
    expect((await rig.run(['resume'])).code).toBe(0)
    const entries = await expectSoundHistory(rig.journalPath())
    expect(acceptedIn(entries)).toEqual(['a', 'b'])
    expect(attemptsOf(entries, 'a')).toEqual([1])
    expect(attemptsOf(entries, 'b')).toEqual([1, 2])
    expect(readdirSync(join(rig.journalPath(), '..')).filter(name => name.includes('torn')).sort()).toEqual(['journal.torn-1', 'journal.torn-2'])
    expect(await livePids(rig)).toEqual([])
  })
})

test('a journal that can not be made durable ends the engine at once with exit 3; its child lives on and is adopted (F6)', async () => {
  const rig = cliRig({ scenario: { rules: [{ play: [{ do: 'wait-for-file', path: 'go' }, { do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'Done.' }] }] } })
  const main = fileURLToPath(new URL('../../children/failing-journal.ts', import.meta.url))
  const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })], { DSH_FAIL_SYNC: '3' }, main)
  await untilEntry(rig, 'a live launch', entry => entry.kind === 'launch-live')
  const ended = await first.ended
  expect([ended.code, ended.stderr.includes('OC_JOURNAL_WRITE')]).toEqual([3, true])
  expect((await livePids(rig)).length).toBeGreaterThan(0)
  const second = rig.start(['resume'])
  await untilEntry(rig, 'the adoption', entry => entry.kind === 'launch-adopted')
  rig.project.write('go', '')
  expect((await second.ended).code).toBe(0)
  await expectSoundHistory(rig.journalPath())
})

describe('signals to the engine (F27)', () => {
  const CODES = [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]] as const

  test.each(CODES)('%s while a child works: interrupted, exit %i, the run goes on with resume', async (signal, code) => {
    const rig = cliRig({ scenario: WAITING })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    await untilEntry(rig, 'the first record', entry => entry.kind === 'launch-first-record')
    first.child.kill(signal)
    expect((await first.ended).code).toBe(code)
    expect(await livePids(rig)).toEqual([])
    const entries = await expectSoundHistory(rig.journalPath())
    expect(entries.filter(entry => entry.kind === 'engine-stopping' || entry.kind === 'engine-stopped')).toEqual([
      { kind: 'engine-stopping', reason: signal }, { kind: 'engine-stopped', reason: signal },
    ])
    expect(entries.at(-1)?.kind).toBe('engine-stopped')
    expect((await rig.run(['resume'])).code).toBe(0)
    expect(attemptsOf(await expectSoundHistory(rig.journalPath()), 'a')).toEqual([1])
  })

  test.each(CODES)('%s while only a check runs: exit %i, and the check is run again', async (signal, code) => {
    const rig = cliRig({
      files: {
        'package.json': JSON.stringify({ scripts: { test: 'sh go.sh' } }),
        'go.sh': 'echo > "$HOME/checking"; while [ ! -e "$HOME/enough" ]; do sleep 0.1; done; echo "# tests 1"; echo "# pass 1"\n',
      },
    })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    await waitFor('the check runs', () => readdirSync(rig.home).includes('checking'))
    first.child.kill(signal)
    expect((await first.ended).code).toBe(code)
    expect((await expectSoundHistory(rig.journalPath())).at(-1)?.kind).toBe('engine-stopped')
    writeFileSync(join(rig.home, 'enough'), '')
    expect((await rig.run(['resume'])).code).toBe(0)
    const entries = await expectSoundHistory(rig.journalPath())
    expect(entries.filter(entry => entry.kind === 'launch-intended').length).toBe(1)
  })

  test('a second signal ends a child that ignores the first, without its grace', async () => {
    const scenario: Scenario = { rules: [{ when: { launch: 'fresh' }, times: 1, play: [{ do: 'bash', command: 'trap "" INT TERM; while [ ! -e go ]; do sleep 0.1; done' }, { do: 'hang' }] }] }
    const rig = cliRig({ scenario, config: { killGraceMs: 60_000 } })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    await untilEntry(rig, 'the first record', entry => entry.kind === 'launch-first-record')
    first.child.kill('SIGINT')
    await untilEntry(rig, 'the stop', entry => entry.kind === 'engine-stopping')
    first.child.kill('SIGINT')
    const begun = performance.now()
    expect((await first.ended).code).toBe(130)
    expect(performance.now() - begun).toBeLessThan(30_000)
    expect(await livePids(rig)).toEqual([])
    expect((await expectSoundHistory(rig.journalPath())).at(-1)?.kind).toBe('engine-stopped')
  })
})

/** False when the run was over before. Killed while it is between two instants of nothing, it does not count either. */
async function killAfter(rig: CliRig, engine: CliProcess, ms: number): Promise<boolean> {
  await waitFor('the run exists', async () => engine.child.exitCode !== null || (rig.runDirs().length > 0 && readdirSync(rig.runDirs()[0] ?? '').includes('journal.ndjson')))
  await Promise.race([delay(ms), engine.ended])
  engine.child.kill('SIGKILL')
  return (await engine.ended).signal === 'SIGKILL'
}

async function expectWholeAndSound(rig: CliRig, instants: readonly number[]): Promise<void> {
  const entries = await expectSoundHistory(rig.journalPath())
  expect([instants, [...acceptedIn(entries)].sort()]).toEqual([instants, ['a', 'b', 'c', 'd', 'e']])
  for (const task of ['a', 'b', 'c', 'd', 'e']) {
    const ends = entries.flatMap(entry => (entry.kind === 'launch-ended' && entry.task === task ? [entry.end.result !== null] : []))
    const started = entries.filter(entry => entry.kind === 'launch-live' && entry.task === task).length
    expect([instants, task, attemptsOf(entries, task), ends.filter(Boolean).length, started]).toEqual([instants, task, [1], 1, expect.any(Number)])
  }
  expect([instants, await livePids(rig)]).toEqual([instants, []])
}

async function cutLastLine(path: string): Promise<void> {
  const bytes = await readFile(path)
  await truncate(path, bytes.length - 20)
}

function acceptedIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(entry => (entry.kind === 'task-accepted' ? [entry.task] : []))
}

function attemptsOf(entries: readonly Entry[], task: string): readonly number[] {
  return entries.flatMap(entry => (entry.kind === 'attempt-started' && entry.task === task ? [entry.attempt] : []))
}
