/**
 * F1 over whole runs: the engine is killed at each journal write in turn and the run resumed. A spread of points by default;
 * `OC_ALL_CRASH_POINTS=1` takes every write and every moment.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Entry } from '../../../src/core/entry-types.ts'
import type { JournalRecord } from '../../../src/engine/journal/format.ts'
import { readJournal } from '../../../src/engine/journal/reader.ts'
import { ledgerOf } from '../../support/cheap-executor.ts'
import { cliRig, livePids } from '../../support/cli-rig.ts'
import { CHEAP_DIAMOND, engineRig } from '../../support/engine-rig.ts'
import { expectSoundHistory } from '../../support/history-checker.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const EVERY = process.env['OC_ALL_CRASH_POINTS'] === '1'
const SPREAD = 42
const MOMENTS = ['before', 'mid', 'after'] as const

test('F1, R-55: killed at any journal write, a diamond of five resumes to the same end and does nothing accepted again', { timeout: 900_000 }, async () => {
  const writes = await countWrites()
  const points = Array.from({ length: writes * MOMENTS.length }, (_, index) => `${Math.floor(index / 3) + 1}:${MOMENTS[index % 3] ?? ''}`)
  const step = EVERY ? 1 : points.length / SPREAD
  const chosen = Array.from({ length: Math.ceil(points.length / step) }, (_, index) => points[Math.floor(index * step)] ?? '')
  let crashes = 0
  const worker = async (): Promise<void> => {
    for (let point = chosen.shift(); point !== undefined; point = chosen.shift()) {
      if (await crashAndResume(point)) crashes += 1
    }
  }
  await Promise.all([worker(), worker()])
  // The number of writes varies a little: events that come together share one.
  expect(crashes).toBeGreaterThan((EVERY ? points.length : SPREAD) * 0.8)
})

test('F1: killed at a write in every engine of a run, it still ends', { timeout: 120_000 }, async () => {
  const rig = engineRig({ folder: tempFolder(), graph: CHEAP_DIAMOND })
  await rig.spawn('start', { OC_CRASH_AT: '2:mid' }).ended
  for (const point of ['1:before', '1:mid', '1:after', '2:mid', '4:after', '7:mid']) await rig.spawn('resume', { OC_CRASH_AT: point }).ended
  expect(await rig.resume()).toBe('complete')
  expectEachAcceptedOnce(await expectSoundHistory(rig.journalPath()))
})

test.each(['launch-intended', 'launch-live', 'launch-ended'] as const)('F1: killed around %s of a real child, its work is done once and nothing is left', { timeout: 120_000 }, async (kind) => {
  for (const moment of ['before', 'after']) {
    const rig = cliRig()
    const graph = rig.writeGraph({ tasks: [{ id: 'a' }] })
    const clean = cliRig()
    await clean.run(['run', clean.writeGraph({ tasks: [{ id: 'a' }] })])
    const write = await writeOf(clean.journalPath(), kind)
    const crashed = await rig.run(['run', graph], { OC_CRASH_AT: `${write}:${moment}` })
    expect([kind, moment, crashed.signal]).toEqual([kind, moment, 'SIGKILL'])
    const resumed = await rig.run(['resume'])
    expect([kind, moment, resumed.code, resumed.stderr]).toEqual([kind, moment, 0, expect.any(String)])
    const entries = await expectSoundHistory(rig.journalPath())
    expectEachAcceptedOnce(entries)
    expect(readFileSync(join(rig.project.root, 'a.txt'), 'utf8')).toBe('a\n')
    const launches = entries.filter(entry => entry.kind === 'launch-intended').length
    // A launch that was only intended may be started anew; one that lived is adopted or read from its files.
    expect(launches).toBeLessThanOrEqual(kind === 'launch-intended' && moment === 'after' ? 2 : 1)
    expect(await livePids(rig)).toEqual([])
  }
})

async function crashAndResume(point: string): Promise<boolean> {
  const rig = engineRig({ folder: tempFolder(), graph: CHEAP_DIAMOND })
  const { signal, code, stderr } = await rig.spawn('start', { OC_CRASH_AT: point }).ended
  expect([point, signal ?? code, stderr]).toEqual([point, signal === null ? 0 : 'SIGKILL', ''])
  const accepted = acceptedIn(await entriesOf(rig.journalPath()))
  const done = ledgerOf(rig.ledger)
  expect([point, await rig.resume()]).toEqual([point, 'complete'])
  expectEachAcceptedOnce(await expectSoundHistory(rig.journalPath()))
  const again = ledgerOf(rig.ledger).slice(done.length).map(line => line.split('/')[0])
  expect([point, again.filter(task => accepted.includes(task ?? ''))]).toEqual([point, []])
  expect([point, [...new Set(ledgerOf(rig.ledger))].sort()]).toEqual([point, ['a/1', 'b/1', 'c/1', 'd/1', 'e/1']])
  return signal !== null
}

function expectEachAcceptedOnce(entries: readonly Entry[]): void {
  const accepted = acceptedIn(entries)
  expect([...accepted].sort()).toEqual([...new Set(accepted)].sort())
  expect(entries.findLast(entry => entry.kind === 'run-finished')?.result).toEqual({ kind: 'complete' })
  expect(entries.at(-1)?.kind).toBe('engine-stopped')
}

function acceptedIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(entry => (entry.kind === 'task-accepted' ? [entry.task] : []))
}

async function recordsOf(path: string): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = []
  await readJournal(path, record => void records.push(record))
  return records
}

async function entriesOf(path: string): Promise<readonly Entry[]> {
  return (await recordsOf(path)).map(record => record.entry)
}

/** Entries of one write share their time. Counted in a child: this process is warm and has other timing. */
async function countWrites(): Promise<number> {
  const rig = engineRig({ folder: tempFolder(), graph: CHEAP_DIAMOND })
  expect((await rig.spawn('start').ended).code).toBe(0)
  return new Set((await recordsOf(rig.journalPath())).map(({ header }) => header.mono)).size
}

/** Number of the write that the first entry of that kind is part of. */
async function writeOf(path: string, kind: Entry['kind']): Promise<number> {
  const records = await recordsOf(path)
  const upTo = records.slice(0, records.findIndex(record => record.entry.kind === kind) + 1)
  return new Set(upTo.map(({ header }) => header.mono)).size
}
