import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineFramer } from '../../src/executor/stream/output-lines.ts'

/** Bytes that are rich in what framing can go wrong on. */
const bytes = fc.array(fc.oneof(
  fc.constantFrom('\n', '\r\n', '\r', '\0', 'ä', '€', '😀', 'plain', '{"type":"x"}').map(text => Buffer.from(text)),
  fc.uint8Array({ maxLength: 12 }).map(raw => Buffer.from(raw)),
), { maxLength: 40 }).map(parts => Buffer.concat(parts))

test('any chunking of the same bytes frames the same lines (F18, F19)', () => {
  fc.assert(fc.property(bytes, fc.array(fc.nat({ max: 300 }), { maxLength: 20 }), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }), (whole, cuts, cap, headBytes) => {
    const options = { maxLineBytes: cap, headBytes }
    const once = new LineFramer(options)
    const expected = [...once.push(whole), ...once.end()]
    const pieces = new LineFramer(options)
    const edges = [...new Set(cuts.map(cut => Math.min(cut, whole.length)))].toSorted((a, b) => a - b)
    const chunks = [0, ...edges].map((from, index) => whole.subarray(from, edges[index] ?? whole.length))
    expect([...chunks.flatMap(chunk => pieces.push(chunk)), ...pieces.end()]).toEqual(expected)
  }), { numRuns: 2000 })
})

test('every byte is in a line or in an end of line', () => {
  fc.assert(fc.property(bytes, fc.integer({ min: 1, max: 30 }), (whole, cap) => {
    const framer = new LineFramer({ maxLineBytes: cap, headBytes: 3 })
    const lines = [...framer.push(whole), ...framer.end()]
    const text = whole.toString('latin1')
    const ends = [...text.matchAll(/\r?\n/g)].reduce((sum, end) => sum + end[0].length, 0)
    const bareReturn = text.endsWith('\r') ? 1 : 0
    expect(lines.reduce((sum, line) => sum + line.bytes, 0)).toBe(whole.length - ends - bareReturn)
    expect(lines.filter(line => line.oversize).map(line => line.bytes > cap)).not.toContain(false)
  }), { numRuns: 1000 })
})
