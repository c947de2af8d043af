import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { JOURNAL_VERSION, SYNCED_ENTRIES } from '../../../src/core/entry-types.ts'
import { ENTRY_FIELDS } from '../../../src/engine/journal/format.ts'

test('docs/journal-format.md lists every kind with its fields and its sync rule, and the version', () => {
  const text = readFileSync(new URL('../../../docs/journal-format.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| `([a-z-]+)` \| (`\w+` [^|]*) \| (yes|no) \|/gm)].map(([, kind, fields, synced]) => [kind, fields, synced])
  const synced: ReadonlySet<string> = SYNCED_ENTRIES
  expect(documented).toEqual(Object.entries(ENTRY_FIELDS).map(([kind, fields]) => [
    kind, Object.entries(fields).map(([name, type]) => `\`${name}\` ${type}`).join(', '), synced.has(kind) ? 'yes' : 'no',
  ]))
  expect(text).toContain(`Version ${JOURNAL_VERSION}.`)
})
