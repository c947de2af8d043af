/** Journals for tests: a fixed clock, a redactor that knows nothing, and a few entries of every sync class. */
import type { Entry } from '../../src/core/entry-types.ts'
import { createJournal, openJournal } from '../../src/engine/journal/journal.ts'
import type { JournalOptions } from '../../src/engine/journal/journal.ts'
import { readJournal } from '../../src/engine/journal/reader.ts'
import { createRedactor } from '../../src/engine/secrets/redact.ts'

export function journalOptions(changes: Partial<JournalOptions> = {}): JournalOptions {
  let ticks = 0
  return {
    redactor: createRedactor({ env: {} }),
    onPoisoned: () => {},
    clock: { at: () => '2026-01-02T03:04:05.678Z', mono: () => (ticks += 1) },
    ...changes,
  }
}

/** A run of one task, in the order in which an engine writes it. */
export const SAMPLE_ENTRIES: readonly Entry[] = [
  { kind: 'run-created', run: 'r', tasks: 1, graphSha256: 'ab' },
  { kind: 'engine-started', pid: 1, host: 'h', version: '0' },
  { kind: 'attempt-started', task: 'a', attempt: 1, attemptKind: 'first', freshTree: false },
  { kind: 'launch-intended', task: 'a', attempt: 1, launch: 1, mode: 'fresh', reason: 'first', sessionId: 's', marker: 'm', dir: 'd' },
  { kind: 'warning', task: 'a', code: 'odd', message: 'Snow\u2028man \u2603, a "quote", a NUL \u0000 and a lone \ud800.' },
  { kind: 'launch-swept', task: 'a', attempt: 1, launch: 1, result: 'clean', ended: 0 },
  { kind: 'task-accepted', task: 'a', attempt: 1, evidence: ['e'], commit: null },
  { kind: 'run-finished', result: { kind: 'complete' } },
]

/** Writes a journal, one batch per entry, and closes it. */
export async function writeJournal(path: string, entries: readonly Entry[], changes: Partial<JournalOptions> = {}): Promise<void> {
  const journal = await createJournal(path, journalOptions(changes))
  for (const entry of entries) await journal.append([entry])
  await journal.close()
}

/** Opens an existing journal, appends, closes. Resolves with what was there before, and the codes of the warnings. */
export async function reopenJournal(path: string, added: readonly Entry[] = []): Promise<{ readonly entries: readonly Entry[], readonly warnings: readonly string[] }> {
  const entries: Entry[] = []
  const { journal, warnings } = await openJournal(path, record => entries.push(record.entry), journalOptions())
  await journal.append(added)
  await journal.close()
  return { entries, warnings: warnings.map(warning => warning.code) }
}

export async function readEntries(path: string): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  await readJournal(path, record => entries.push(record.entry))
  return entries
}
