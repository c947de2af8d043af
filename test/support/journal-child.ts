/**
 * Writes numbered entries to the journal in argv until it has written the wanted number, then closes it. Goes on where the journal ends.
 * Says `acknowledged <n>` on stdout after each append that resolved. The crash point comes from the environment.
 */
import { existsSync, writeSync } from 'node:fs'
import type { Entry } from '../../src/core/entry-types.ts'
import { createJournal, openJournal } from '../../src/engine/journal/journal.ts'
import { createRedactor } from '../../src/engine/secrets/redact.ts'

const [, , path = '', wanted = '0'] = process.argv
const options = { redactor: createRedactor({ env: {} }), onPoisoned: () => {} }
let written = 0
const count = (entry: Entry): void => {
  if (entry.kind === 'task-unblocked') written = Number(entry.task)
}
const journal = existsSync(path) ? await openJournal(path, record => count(record.entry), options).then(opened => opened.journal) : await createJournal(path, options)
while (written < Number(wanted)) {
  written += 1
  await journal.append([{ kind: 'engine-stopping', reason: `before ${written}` }, { kind: 'task-unblocked', task: String(written) }])
  writeSync(1, `acknowledged ${written}\n`)
}
await journal.close()
