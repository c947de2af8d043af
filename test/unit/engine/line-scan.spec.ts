import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scanLines } from '../../../src/engine/journal/line-scan.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

interface Seen {
  readonly text: string | null
  readonly offset: number
}

async function scan(path: string): Promise<{ readonly lines: readonly Seen[], readonly end: number, readonly rest: number }> {
  const lines: Seen[] = []
  const tail = await scanLines(path, (line, offset) => lines.push({ text: line?.toString() ?? null, offset }))
  return { lines, ...tail }
}

test('lines that cross, fill and end exactly at the borders of chunks come out whole, with their offsets', async () => {
  const path = join(temporaryFolder(), 'file')
  const chunk = 1 << 20
  const texts = ['a'.repeat(chunk - 1), 'b', 'c'.repeat(3 * chunk), '', 'd'.repeat(chunk), 'e'.repeat(2 * chunk - 5), 'f']
  writeFileSync(path, `${texts.join('\n')}\n${'g'.repeat(chunk + 7)}`)
  let offset = 0
  const expected = texts.map((text) => {
    const line = { text, offset }
    offset += text.length + 1
    return line
  })
  const { lines, end, rest } = await scan(path)
  expect(lines.map(line => [line.offset, line.text?.length, line.text?.[0]])).toEqual(expected.map(line => [line.offset, line.text.length, line.text[0]]))
  expect([end, rest]).toEqual([offset, chunk + 7])
})

test('a line that is longer than any entry is not kept in memory, and the next line is read', async () => {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, 'first\n')
  truncateSync(path, (66 << 20) + 6)
  appendFileSync(path, '\nlast\n')
  expect(await scan(path)).toEqual({
    lines: [{ text: 'first', offset: 0 }, { text: null, offset: 6 }, { text: 'last', offset: (66 << 20) + 7 }], end: (66 << 20) + 12, rest: 0,
  })
})

test('an empty file has no lines', async () => {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, '')
  expect(await scan(path)).toEqual({ lines: [], end: 0, rest: 0 })
})
