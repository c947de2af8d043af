import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createJournal, createMemoryJournal, openJournal } from '../../../src/engine/journal/journal.ts'
import { readJournal } from '../../../src/engine/journal/reader.ts'
import { createRedactor } from '../../../src/engine/secrets/redact.ts'
import { journalOptions, readEntries, reopenJournal, SAMPLE_ENTRIES, writeJournal } from '../../support/journals.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('what was appended is read back, entry by entry', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES)
  expect(await readEntries(path)).toEqual(SAMPLE_ENTRIES)
})

test('the first two lines of a journal have exactly the documented bytes', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES.slice(0, 2))
  expect(readFileSync(path, 'utf8')).toMatchInlineSnapshot(`
    "{"v":1,"seq":1,"at":"2026-01-02T03:04:05.678Z","mono":1,"engine":1,"prev":"0000000000000000","kind":"run-created","run":"r","tasks":1,"graphSha256":"ab"}
    {"v":1,"seq":2,"at":"2026-01-02T03:04:05.678Z","mono":2,"engine":1,"prev":"cbb040afde8150fd","kind":"engine-started","pid":1,"host":"h","version":"0"}
    "
  `)
})

test('a journal is private to its owner', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES)
  expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
})

test('a journal is never created over an existing one', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES)
  await expect(createJournal(path, journalOptions())).rejects.toMatchObject({ code: 'EEXIST' })
  expect(await readEntries(path)).toEqual(SAMPLE_ENTRIES)
})

test('each opening takes the next engine epoch, or a higher one when told so, and continues seq', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES)
  await reopenJournal(path, [{ kind: 'task-unblocked', task: 'b' }])
  const { journal } = await openJournal(path, () => {}, journalOptions({ engine: 9 }))
  await journal.append([{ kind: 'task-unblocked', task: 'c' }])
  await journal.close()
  const headers: (readonly [number, number])[] = []
  await readJournal(path, ({ header }) => headers.push([header.seq, header.engine]))
  expect(headers).toEqual([...SAMPLE_ENTRIES.map((_, index) => [index + 1, 1]), [9, 2], [10, 9]])
})

test('a journal in memory holds the bytes that a file would hold', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES)
  const memory = createMemoryJournal(journalOptions())
  for (const entry of SAMPLE_ENTRIES) await memory.journal.append([entry])
  await memory.journal.close()
  expect(memory.bytes().toString()).toBe(readFileSync(path, 'utf8'))
})

test('T22: no secret value passes the writer, in any field, and fields that recovery compares stay as they are', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  const redactor = createRedactor({ env: { TAVILY_TOKEN: 'tvly-"quoted"-0123456789' }, configEnv: { MODE: 'stalled' } })
  await writeJournal(path, [
    { kind: 'warning', code: 'child-said', message: 'stderr: tvly-"quoted"-0123456789 and again {"k":"tvly-\\"quoted\\"-0123456789"}; it stalled' },
    { kind: 'launch-intended', task: 'stalled', attempt: 1, launch: 2, mode: 'resume', reason: 'stalled', sessionId: 's', marker: 'm', dir: 't0-stalled/a1/l2' },
  ], { redactor })
  expect(readFileSync(path, 'utf8')).not.toMatch(/quoted/)
  expect(await readEntries(path)).toEqual([
    { kind: 'warning', code: 'child-said', message: 'stderr: <redacted:TAVILY_TOKEN> and again {"k":"<redacted:TAVILY_TOKEN>"}; it <redacted:MODE>' },
    { kind: 'launch-intended', task: 'stalled', attempt: 1, launch: 2, mode: 'resume', reason: 'stalled', sessionId: 's', marker: 'm', dir: 't0-stalled/a1/l2' },
  ])
})

test('an entry that could not be read back is refused and does not hurt the journal', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  const journal = await createJournal(path, journalOptions())
  await expect(journal.append([{ kind: 'task-unblocked', task: 'a' }, { kind: 'engine-suspended', gapMs: Number.NaN, why: 'sleep' }]))
    .rejects.toMatchObject({ code: 'OC_INTERNAL' })
  await journal.append([{ kind: 'task-unblocked', task: 'b' }])
  await journal.close()
  expect(await readEntries(path)).toEqual([{ kind: 'task-unblocked', task: 'b' }])
})

test('a run that died before its journal existed says so, and one that died before its first entry is an empty journal', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  await expect(readEntries(path)).rejects.toMatchObject({ code: 'OC_RUN_STATE' })
  await writeJournal(path, [])
  expect(await reopenJournal(path, [{ kind: 'task-unblocked', task: 'a' }])).toEqual({ entries: [], warnings: [] })
  expect(await readEntries(path)).toEqual([{ kind: 'task-unblocked', task: 'a' }])
})
