import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '../../../src/core/entry-types.ts'
import { createMemoryJournal } from '../../../src/engine/journal/journal.ts'
import { createRedactingStream } from '../../../src/engine/secrets/redacting-stream.ts'
import { createRedactor } from '../../../src/engine/secrets/redact.ts'
import { journalOptions, readEntries, reopenJournal } from '../../support/journals.ts'

const text = fc.string({ unit: 'binary', maxLength: 60 })
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ kind: fc.constant('task-failed' as const), task: text, reason: text }),
  fc.record({ kind: fc.constant('task-unblocked' as const), task: text }),
  fc.record({ kind: fc.constant('engine-suspended' as const), gapMs: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }), why: fc.constantFrom('sleep' as const, 'pause' as const) }),
  fc.record({ kind: fc.constant('warning' as const), code: text, message: fc.string({ unit: 'binary', maxLength: 3000 }) }),
  fc.record({
    kind: fc.constant('decision' as const), task: text, attempt: fc.nat(), round: fc.nat(), by: fc.constant('advisor' as const),
    decision: fc.record({ kind: fc.constant('patch' as const), reason: text, edits: fc.array(fc.record({ path: text, content: fc.option(text) }), { maxLength: 3 }) }),
  }),
)
const batches = fc.array(fc.array(entry, { maxLength: 4 }), { maxLength: 8 })

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'oc-test-'))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function bytesOf(written: readonly (readonly Entry[])[]): Promise<Buffer> {
  const { journal, bytes } = createMemoryJournal(journalOptions())
  for (const batch of written) await journal.append(batch)
  return bytes()
}

test('any sequence of entries, in any batches, is read back as it was written', () => fc.assert(fc.asyncProperty(batches, async written => withFolder(async (folder) => {
  const path = join(folder, 'journal.ndjson')
  writeFileSync(path, await bytesOf(written))
  expect(await readEntries(path)).toEqual(written.flat())
})), { numRuns: 200 }))

test('T17: cut anywhere, any number of times, a journal opens with a prefix of its entries and takes new ones', () => fc.assert(
  fc.asyncProperty(batches, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }), async (written, cuts) => withFolder(async (folder) => {
    const path = join(folder, 'journal.ndjson')
    writeFileSync(path, await bytesOf(written))
    let expected: readonly Entry[] = written.flat()
    for (const [index, cut] of cuts.entries()) {
      const bytes = readFileSync(path)
      const kept = bytes.subarray(0, Math.floor(bytes.length * cut))
      writeFileSync(path, kept)
      const added: Entry = { kind: 'task-unblocked', task: `after cut ${index}` }
      const whole = kept.toString('latin1').split('\n').length - 1
      const torn = kept.length > 0 && kept.at(-1) !== 10
      expect(await reopenJournal(path, [added])).toEqual({ entries: expected.slice(0, whole), warnings: torn ? ['journal-torn'] : [] })
      expected = [...expected.slice(0, whole), added]
    }
    expect(await readEntries(path)).toEqual(expected)
  })), { numRuns: 60 },
))

test('T22: a stream cut into any chunks gives what the whole text gives, and never a secret', () => fc.assert(fc.property(
  fc.array(fc.oneof(fc.constantFrom('top-secret', 'two\nline-secret', 'top-', 'secret', '\n', 'é☃', 'Bearer abcdefgh1234'), fc.string({ maxLength: 20 })), { maxLength: 40 }),
  fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 }),
  (parts, sizes) => {
    const redactor = createRedactor({ env: { ONE_TOKEN: 'top-secret', TWO_TOKEN: 'two\nline-secret' } })
    const bytes = Buffer.from(parts.join(''))
    const stream = createRedactingStream(redactor)
    let out = ''
    for (let at = 0, n = 0; at < bytes.length; n += 1) {
      const size = sizes[n % sizes.length] ?? 1
      out += stream.push(bytes.subarray(at, at + size))
      at += size
    }
    out += stream.end()
    expect(out).toBe(redactor.redact(bytes.toString()))
    expect(out).not.toContain('top-secret')
    expect(out).not.toContain('two\nline-secret')
  },
), { numRuns: 500 }))
