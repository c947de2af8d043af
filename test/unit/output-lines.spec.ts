import { expect, test } from 'vitest'
import type { FramedLine } from '../../src/executor/stream/child-record.ts'
import type { FramerOptions } from '../../src/executor/stream/output-lines.ts'
import { LineFramer } from '../../src/executor/stream/output-lines.ts'

function frame(chunks: readonly (string | Uint8Array)[], options: FramerOptions = {}): readonly FramedLine[] {
  const framer = new LineFramer(options)
  return [...chunks.flatMap(chunk => framer.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)), ...framer.end()]
}

const line = (text: string, bytes = Buffer.byteLength(text)): FramedLine => ({ text, oversize: false, bytes })
const head = (text: string, bytes: number): FramedLine => ({ text, oversize: true, bytes })

test('lines end at LF or CRLF, and the last one at the end of the stream (R-63)', () => {
  expect(frame(['a\r\nb\n\nc\rd\ne'])).toEqual([line('a'), line('b'), line(''), line('c\rd'), line('e')])
  expect(frame(['a', '\r', '\n'])).toEqual([line('a')])
  expect(frame(['a\n'])).toEqual([line('a')])
  expect(frame([])).toEqual([])
})

test('a character split across chunks arrives whole; 0xFF becomes U+FFFD and NUL stays (F19)', () => {
  const bytes = Buffer.from('ä€😀\n')
  for (let cut = 1; cut < bytes.length; cut++) expect(frame([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual([line('ä€😀')])
  expect(frame([Uint8Array.of(0x61, 0xff, 0x00, 0x62, 0x0a)])).toEqual([line('a\uFFFD\0b', 4)])
})

test('a line over the cap keeps its head and its length, and the next line is read right (F18)', () => {
  const options = { maxLineBytes: 10, headBytes: 4 }
  expect(frame(['0123456789\n'], options)).toEqual([line('0123456789')])
  expect(frame(['0123456789\r\n'], options)).toEqual([line('0123456789')])
  expect(frame(['0123456789a\nnext\n'], options)).toEqual([head('0123', 11), line('next')])
  expect(frame(['01234567', '89abcdef', 'ghij', '\r\nnext\n'], options)).toEqual([head('0123', 20), line('next')])
  expect(frame(['0123456789abc'], options)).toEqual([head('0123', 13)])
})

test('the head of an oversize line is cut at a character', () => {
  expect(frame(['abä0123456789\n'], { maxLineBytes: 10, headBytes: 3 })).toEqual([head('ab', 14)])
  expect(frame(['a😀0123456789\n'], { maxLineBytes: 10, headBytes: 4 })).toEqual([head('a', 15)])
  expect(frame(['a😀0123456789\n'], { maxLineBytes: 10, headBytes: 5 })).toEqual([head('a😀', 15)])
})

test('a 300 MB line needs no more memory than the cap (F18)', () => {
  const framer = new LineFramer({ maxLineBytes: 1_000_000, headBytes: 1000 })
  const chunk = Buffer.alloc(256 * 1024, 0x78)
  const before = process.memoryUsage.rss()
  for (let round = 0; round < 1200; round++) framer.push(chunk)
  expect(framer.push(Buffer.from('\nnext\n'))).toEqual([head('x'.repeat(1000), 1200 * 256 * 1024), line('next')])
  expect(process.memoryUsage.rss() - before).toBeLessThan(60_000_000)
})

test('a flood of short lines is passed over at the speed of a search, and the records in it are framed (F17)', () => {
  const framer = new LineFramer({ recordsOnly: true })
  const piece = Buffer.from(`${'y\n'.repeat(524_288)}\n{"a":1}\n  {"b":2}\nend`)
  const started = performance.now()
  const framed = Array.from({ length: 32 }, () => framer.push(piece).map(line => line.text))
  expect(framed.slice(1)).toEqual(Array.from({ length: 31 }, () => ['endy', '{"a":1}', '  {"b":2}']))
  expect(framed[0]).toEqual(['{"a":1}', '  {"b":2}'])
  // Sixteen million lines; each one decoded would take half a minute or more.
  expect(performance.now() - started).toBeLessThan(15_000)
}, 120_000)
