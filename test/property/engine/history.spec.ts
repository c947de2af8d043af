import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldEntries } from '../../../src/core/apply-entry.ts'
import type { Entry } from '../../../src/core/entry-types.ts'
import { stateDifference } from '../../../src/core/state-difference.ts'
import { createMemoryJournal } from '../../../src/engine/journal/journal.ts'
import { decodeLine } from '../../../src/engine/journal/format.ts'
import type { JournalRecord } from '../../../src/engine/journal/format.ts'
import { policy } from '../../support/core-facts.ts'
import { graphs, tapeOf, tapes, wildScript } from '../../support/core-tape.ts'
import { startWorld, STARTED, world } from '../../support/core-world.ts'
import { historyFaults } from '../../support/history-checker.ts'
import { journalOptions } from '../../support/journals.ts'

/** The entries as a journal would give them back, written by the engines that begin at the given indexes. */
async function journalled(entries: readonly Entry[], engines: readonly number[]): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = []
  for (const [index, start] of engines.entries()) {
    const { journal, bytes } = createMemoryJournal(journalOptions({ engine: index + 1 }))
    await journal.append(entries.slice(start, engines[index + 1]))
    for (const line of bytes().toString().split('\n').slice(0, -1)) {
      const decoded = decodeLine(line)
      if (decoded.kind !== 'record') throw new Error(`not read back: ${line}`)
      records.push({ header: { ...decoded.header, seq: records.length + 1 }, entry: decoded.entry, offset: 0 })
    }
  }
  return records
}

test('every run of the core, also one that lost its engine at any point, is journalled as a sound history and folds to the same state', () => fc.assert(
  fc.asyncProperty(graphs, tapes, fc.boolean(), fc.nat(400), async (graph, numbers, supervised, crash) => {
    const options = { policy: { supervised }, script: wildScript(tapeOf(numbers)), checkFold: false }
    const first = startWorld(graph, options)
    let steps = 0
    first.run(() => (steps += 1) > crash)
    const cut = first.entries.length
    const second = world(graph, { ...options, entries: first.entries })
    second.send(STARTED)
    second.run()
    const records = await journalled(second.entries, [0, cut])
    expect(historyFaults(records)).toEqual([])
    expect(records.map(record => record.entry)).toEqual(second.entries)
    expect(stateDifference(foldEntries(graph, 'run', policy(options.policy), records.map(record => record.entry)), second.state)).toBeNull()
  }),
  { numRuns: 200 },
))
