import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ChildRecord } from '../../src/executor/stream/child-record.ts'
import { readEndNote, writeEndNote } from '../../src/executor/openclaude/end-note.ts'
import { LaunchReader } from '../../src/executor/openclaude/launch-reader.ts'
import { isCompleteResult } from '../../src/executor/openclaude/launch-verdict.ts'
import { NO_USAGE } from '../../src/executor/stream/usage-totals.ts'

const line = (value: unknown): string => `${JSON.stringify(value)}\n`
const INIT = line({ type: 'system', subtype: 'init', model: 'm', session_id: 's' })
const TEXT = line({ type: 'assistant', message: { content: [{ type: 'text', text: 'done' }] } })
const RESULT = line({ type: 'result', subtype: 'success', is_error: false, stop_reason: 'end_turn', result: 'done', num_turns: 1 })
/** What OpenClaude writes when SIGINT meets it: nothing of it is the child's own word. */
const AFTER_SIGNAL = line({ type: 'result', subtype: 'success', is_error: false, stop_reason: 'tool_use', result: '', num_turns: 1 })
const EXIT = { exit: { known: true, code: 0, signal: null }, endedByKeeper: null, durationMs: 5 } as const

const newReader = (redact = (text: string): string => text): { reader: LaunchReader, records: ChildRecord['kind'][] } => {
  const records: ChildRecord['kind'][] = []
  const reader = new LaunchReader({ maxLineBytes: 1_000_000, earlier: { usage: NO_USAGE, costUsd: 0 }, redact, onRecord: record => records.push(record.kind) })
  return { reader, records }
}
const out = (text: string): { stream: 'stdout', bytes: Uint8Array } => ({ stream: 'stdout', bytes: Buffer.from(text) })
const err = (text: string): { stream: 'stderr', bytes: Uint8Array } => ({ stream: 'stderr', bytes: Buffer.from(text) })

describe('reading a launch', () => {
  it('folds records in order and leaves noise out', () => {
    const { reader, records } = newReader()
    reader.take(out(INIT + TEXT.slice(0, 10)))
    reader.take(out(`${TEXT.slice(10)}noise\n${RESULT.trimEnd()}`))
    reader.take(err('openclaude: heartbeat elapsed=5s quiet=5s state=running phase=in_turn\nother\n'))
    const end = reader.finish(EXIT, null)
    expect([records, reader.progress]).toEqual([['init', 'assistant', 'heartbeat', 'result'], 3])
    expect([end.result?.text, end.lastPhase, end.model, end.records, end.stderrTail.endsWith('other\n')]).toEqual(['done', 'in_turn', 'm', 3, true])
  })

  it('keeps the result that was there before our signal', () => {
    const { reader } = newReader()
    reader.take(out(INIT + TEXT + RESULT))
    reader.hold()
    reader.take(out(AFTER_SIGNAL))
    expect(reader.finish(EXIT, { kind: 'clock', clock: 'settle' }).result?.text).toBe('done')
  })

  it('takes a result that came between the decision and its effect', () => {
    const { reader } = newReader()
    reader.take(out(INIT + TEXT))
    reader.hold()
    reader.take(out(RESULT))
    expect(isCompleteResult(reader.finish(EXIT, { kind: 'clock', clock: 'idle' }))).toBe(true)
  })

  it('finds the same instant when the output is read again, wherever the chunks are cut', () => {
    const all = INIT + TEXT + RESULT + AFTER_SIGNAL
    const offset = Buffer.byteLength(INIT + TEXT + RESULT)
    for (const size of [1, 7, offset, all.length]) {
      const { reader } = newReader()
      reader.holdAfter(offset)
      for (let at = 0; at < all.length; at += size) reader.take(out(all.slice(at, at + size)))
      expect(reader.finish(EXIT, { kind: 'clock', clock: 'settle' }).result?.text).toBe('done')
    }
  })

  it('bounds the stderr tail and redacts it, also a secret that its start cuts (R-69)', () => {
    const { reader } = newReader(text => text.replaceAll('secret-value', '***'))
    reader.take(err(`${'x'.repeat(50_000)}secret-value${'y'.repeat(1995)}`))
    expect(reader.finish(EXIT, null).stderrTail).toBe(`xx***${'y'.repeat(1995)}`)
  })
})

describe('the note of an end', () => {
  it('is read back as written, and nothing else is taken for one', () => {
    const dir = mkdtempSync(join(tmpdir(), 'note-'))
    try {
      expect(readEndNote(dir)).toBe(null)
      for (const reason of [{ kind: 'stop' }, { kind: 'abort' }, { kind: 'clock', clock: 'idle' }] as const) {
        writeEndNote(dir, { reason, stdoutBytes: 12 })
        expect(readEndNote(dir)).toEqual({ reason, stdoutBytes: 12 })
      }
      for (const text of ['', '{', '{"reason":{"kind":"clock","clock":"x"},"stdoutBytes":1}', '{"reason":{"kind":"stop"}}', '[]']) {
        writeFileSync(join(dir, 'ending.json'), text)
        expect(readEndNote(dir)).toBe(null)
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
