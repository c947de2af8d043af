import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Entry } from '../../../src/core/entry-types.ts'
import { openJournal } from '../../../src/engine/journal/journal.ts'
import { readJournal } from '../../../src/engine/journal/reader.ts'
import { journalOptions, readEntries, reopenJournal, SAMPLE_ENTRIES, writeJournal } from '../../support/journals.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const NEXT: Entry = { kind: 'task-unblocked', task: 'after' }

interface Sample {
  readonly folder: string
  readonly path: string
  readonly bytes: Buffer
  /** Offsets of the line starts, and of the end. */
  readonly starts: readonly number[]
}

async function sample(): Promise<Sample> {
  const folder = temporaryFolder()
  const path = join(folder, 'journal.ndjson')
  await writeJournal(path, SAMPLE_ENTRIES)
  const bytes = readFileSync(path)
  const starts = [0]
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1)
  return { folder, path, bytes, starts }
}

const lineOf = ({ bytes, starts }: Sample, index: number): Buffer => bytes.subarray(starts[index], starts[index + 1])

test('F2: a last record cut at any byte is set aside, and the next record is intact', async () => {
  const { folder, path, bytes, starts } = await sample()
  const lastStart = starts.at(-2) ?? 0
  for (let cut = lastStart + 1; cut < bytes.length; cut += 1) {
    writeFileSync(path, bytes.subarray(0, cut))
    expect(await reopenJournal(path, [NEXT])).toEqual({ entries: SAMPLE_ENTRIES.slice(0, -1), warnings: ['journal-torn'] })
    expect(readFileSync(join(folder, `journal.torn-${cut - lastStart}`))).toEqual(bytes.subarray(lastStart, cut))
    expect(await readEntries(path)).toEqual([...SAMPLE_ENTRIES.slice(0, -1), NEXT])
  }
})

test('T17: a journal torn again after its repair is repaired again; both tails are kept, private', async () => {
  const { folder, path, bytes } = await sample()
  writeFileSync(path, bytes.subarray(0, -5))
  await reopenJournal(path, [NEXT, NEXT])
  const repaired = readFileSync(path)
  writeFileSync(path, repaired.subarray(0, -1))
  expect(await reopenJournal(path)).toEqual({ entries: [...SAMPLE_ENTRIES.slice(0, -1), NEXT], warnings: ['journal-torn'] })
  expect(await reopenJournal(path)).toEqual({ entries: [...SAMPLE_ENTRIES.slice(0, -1), NEXT], warnings: [] })
  const aside = readdirSync(folder).filter(name => name.includes('torn')).sort()
  expect(aside.map(name => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)])).toEqual([['journal.torn-1', '600'], ['journal.torn-2', '600']])
})

test('a journal whose tail is torn can be read without changing it', async () => {
  const { path, bytes, starts } = await sample()
  const lastStart = starts.at(-2) ?? 0
  writeFileSync(path, bytes.subarray(0, -5))
  const tail = await readJournal(path, () => {})
  expect([tail.seq, tail.torn]).toEqual([SAMPLE_ENTRIES.length - 1, { offset: lastStart, bytes: bytes.length - 5 - lastStart }])
  expect(readFileSync(path)).toEqual(bytes.subarray(0, -5))
})

test('F3: one changed byte in any record but the last is refused with offset and seq, and nothing is changed', async () => {
  const found = await sample()
  const { path, bytes, starts } = found
  for (let index = 0; index < SAMPLE_ENTRIES.length - 1; index += 1) {
    const start = starts[index] ?? 0
    const length = lineOf(found, index).length
    for (const at of [start, start + Math.floor(length / 3), start + Math.floor(length / 2), start + length - 3]) {
      const flipped = Buffer.from(bytes)
      flipped.writeUInt8(flipped.readUInt8(at) ^ 0x01, at)
      writeFileSync(path, flipped)
      const refusal = await readEntries(path).then(() => null, (error: unknown) => error)
      expect(refusal).toMatchObject({ code: 'OC_JOURNAL_CORRUPT', message: expect.stringMatching(/the line at byte \d+ \(seq \d+\) is damaged: .*doctor --salvage/) })
      await expect(openJournal(path, () => {}, journalOptions())).rejects.toMatchObject({ code: 'OC_JOURNAL_CORRUPT' })
      expect(readFileSync(path)).toEqual(flipped)
    }
  }
})

test('F3: a changed byte that still decodes is found by the hash, and the changed line is the one that is named', async () => {
  const { path, bytes, starts } = await sample()
  writeFileSync(path, bytes.toString('latin1').replace('"task":"a","code":"odd"', '"task":"b","code":"odd"'), 'latin1')
  await expect(readEntries(path)).rejects.toMatchObject({ message: expect.stringContaining(`the line at byte ${starts[4]} (seq 5) is damaged: its bytes do not have the hash`) })
})

test('F3: a block of 512 NULs between, or inside, records is refused; at the end it is a torn tail', async () => {
  const { path, bytes, starts } = await sample()
  const nuls = Buffer.alloc(512)
  for (const at of [0, starts[2] ?? 0, (starts[2] ?? 0) + 40]) {
    writeFileSync(path, Buffer.concat([bytes.subarray(0, at), nuls, bytes.subarray(at)]))
    await expect(readEntries(path)).rejects.toMatchObject({ code: 'OC_JOURNAL_CORRUPT' })
  }
  writeFileSync(path, Buffer.concat([bytes, nuls]))
  expect(await reopenJournal(path)).toEqual({ entries: SAMPLE_ENTRIES, warnings: ['journal-torn'] })
})

test('F4: a deleted, a repeated and a swapped line are each refused and told apart', async () => {
  const found = await sample()
  const lines = SAMPLE_ENTRIES.map((_, index) => lineOf(found, index))
  const [first, second, third, ...rest] = lines
  if (first === undefined || second === undefined || third === undefined) throw new Error('three lines are needed')
  const why = async (order: readonly Buffer[]): Promise<unknown> => {
    writeFileSync(found.path, Buffer.concat(order))
    return readEntries(found.path).then(() => null, (error: unknown) => error)
  }
  expect(await why([first, third, ...rest])).toMatchObject({ code: 'OC_JOURNAL_CORRUPT', message: expect.stringContaining('1 line(s) before it are missing') })
  expect(await why([second, third, ...rest])).toMatchObject({ code: 'OC_JOURNAL_CORRUPT', message: expect.stringContaining('byte 0 (seq 1)') })
  expect(await why([first, first, second, third, ...rest])).toMatchObject({ code: 'OC_JOURNAL_CORRUPT', message: expect.stringContaining('repeated or swapped') })
  expect(await why([first, third, second, ...rest])).toMatchObject({ code: 'OC_JOURNAL_CORRUPT' })
})

test('F4: a line replaced by one with a right number but a wrong predecessor, or an older engine, is refused', async () => {
  const { path, bytes } = await sample()
  const text = bytes.toString('latin1')
  writeFileSync(path, text.replace(/("seq":4.*?"prev":")[0-9a-f]{16}/, '$10123456789abcdef'), 'latin1')
  await expect(readEntries(path)).rejects.toMatchObject({ code: 'OC_JOURNAL_CORRUPT' })
  const aged = await sample()
  await reopenJournal(aged.path, [NEXT, NEXT])
  writeFileSync(aged.path, readFileSync(aged.path, 'latin1').replace(/"engine":2(?!.*"engine":2)/s, '"engine":1'), 'latin1')
  await expect(readEntries(aged.path)).rejects.toMatchObject({ message: expect.stringContaining('its engine epoch 1 is older than 2 before it') })
})

test('an unknown kind or a missing field in this version of the format is damage, not something to skip', async () => {
  const { path, bytes, starts } = await sample()
  const text = bytes.toString('latin1')
  writeFileSync(path, text.replace('"kind":"launch-intended"', '"kind":"launch-imagined"'), 'latin1')
  await expect(readEntries(path)).rejects.toMatchObject({ message: expect.stringContaining(`byte ${starts[3]} (seq 4) is damaged: its kind "launch-imagined" is unknown`) })
  writeFileSync(path, text.replace('"marker"', '"maker"'), 'latin1')
  await expect(readEntries(path)).rejects.toMatchObject({ message: expect.stringContaining('field marker of its launch-intended is missing or no string') })
})

test('F33: a journal from a newer version is refused for writing, and read-only views see what they can', async () => {
  const { path, bytes } = await sample()
  const { hash, seq } = await readJournal(path, () => {})
  const future = JSON.stringify({ v: 2, seq: seq + 1, at: '2030-01-01T00:00:00.000Z', mono: 1, engine: 2, prev: hash, kind: 'task-dreamt', task: 'a' })
  writeFileSync(path, Buffer.concat([bytes, Buffer.from(`${future}\n`)]))
  await expect(openJournal(path, () => {}, journalOptions())).rejects.toMatchObject({ code: 'OC_JOURNAL_VERSION' })
  const seen: Entry[] = []
  const tail = await readJournal(path, record => seen.push(record.entry), { allowNewer: true })
  expect([seen, tail.version, tail.skipped, tail.seq]).toEqual([SAMPLE_ENTRIES, 2, 1, SAMPLE_ENTRIES.length + 1])
})
