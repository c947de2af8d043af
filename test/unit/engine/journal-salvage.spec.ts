import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Entry } from '../../../src/core/entry-types.ts'
import { salvageJournal } from '../../../src/engine/journal/salvage.ts'
import { readEntries, reopenJournal, SAMPLE_ENTRIES, writeJournal } from '../../support/journals.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

async function damaged(change: (lines: string[]) => readonly string[]): Promise<{ readonly path: string, readonly bytes: Buffer }> {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES)
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1).map(line => `${line}\n`)
  writeFileSync(path, change(lines).join(''))
  return { path, bytes: readFileSync(path) }
}

const hole = (what: string): Entry => ({ kind: 'warning', code: 'journal-salvaged', message: `${what} damaged and left out when this journal was repaired.` })

test('F3: salvage leaves out a damaged line, says so in its place, and keeps the original', async () => {
  const { path, bytes } = await damaged(lines => lines.with(3, `${'\0'.repeat(512)}\n`))
  const result = await salvageJournal(path)
  expect([result.kept, result.missing, result.dropped.map(line => line.why)]).toEqual([7, [4], ['it is not JSON']])
  expect(await readEntries(path)).toEqual([...SAMPLE_ENTRIES.slice(0, 3), hole('Entry 4 was'), ...SAMPLE_ENTRIES.slice(4)])
  expect(readFileSync(result.original)).toEqual(bytes)
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
  expect((await reopenJournal(path, [{ kind: 'task-unblocked', task: 'b' }])).warnings).toEqual([])
})

test('F3: salvage finds a line that was changed but still decodes, and does not keep it', async () => {
  const { path } = await damaged(lines => lines.map(line => line.replace('"commit":null', '"commit":"x"')))
  const result = await salvageJournal(path)
  expect([result.missing, result.dropped.map(line => [line.seq, line.why])]).toEqual([[7], [[7, 'its bytes do not have the hash that the next line recorded']]])
})

test('a changed predecessor hash costs the changed line, not the sound one before it', async () => {
  const { path } = await damaged(lines => lines.map(line => line.replace(/("seq":4.*?"prev":")[0-9a-f]{4}/, '$10000')))
  expect((await salvageJournal(path)).missing).toEqual([4])
})

test('F4: salvage puts swapped lines back, drops repeats, and loses nothing', async () => {
  const { path } = await damaged(([a = '', b = '', c = '', ...rest]) => [a, c, b, b, ...rest])
  const result = await salvageJournal(path)
  expect([result.kept, result.missing, result.dropped.map(line => line.why)]).toEqual([8, [], ['its number was used twice']])
  expect(await readEntries(path)).toEqual(SAMPLE_ENTRIES)
})

test('several missing lines become one warning, and a torn tail is dropped', async () => {
  const { path } = await damaged(lines => [...lines.slice(0, 2), ...lines.slice(5, 7), (lines[7] ?? '').slice(0, 30)])
  expect((await salvageJournal(path)).missing).toEqual([3, 4, 5])
  expect(await readEntries(path)).toEqual([...SAMPLE_ENTRIES.slice(0, 2), hole('Entries 3 to 5 were'), ...SAMPLE_ENTRIES.slice(5, 7)])
})

test('a second salvage keeps the first original too', async () => {
  const { path } = await damaged(lines => lines.with(3, '?\n'))
  const first = await salvageJournal(path)
  const second = await salvageJournal(path)
  expect([first.original, second.original].map(name => name.replace(/.*\//, ''))).toEqual(['journal.damaged-1', 'journal.damaged-2'])
})
