/** `docs/test-index.md`: from a row of the requirements, a case or a fault to the tests that name it. Read from the titles in `test/`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Titles of describe, test and it calls, also behind `.each(…)`. */
const TITLE = /\b(?:describe|test|it)(?:\.each)?\b[^\n]*?(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/gu
const ROW = /\b(R-\d+|T\d+|F\d+)\b/gu
const RANGE = /\b(R-)(\d+) (?:to|\.\.) R-(\d+)\b/gu

export function renderTestIndex(root: string): string {
  const byRow = new Map<string, string[]>()
  for (const file of specFiles(join(root, 'test'))) {
    for (const [, , title = ''] of readFileSync(file, 'utf8').matchAll(TITLE)) {
      for (const row of rowsOf(title)) byRow.set(row, [...byRow.get(row) ?? [], `\`${relative(root, file)}\`: ${title.replaceAll('|', '\\|')}`])
    }
  }
  const rows = [...byRow].sort(([a], [b]) => orderOf(a) - orderOf(b))
  return [
    '# Test index',
    '',
    'Written by `node scripts/generate-docs.ts`. Which tests name a row: R = requirement, T = case from the field, F = fault.',
    '',
    '| row | tests |',
    '|---|---|',
    ...rows.map(([row, tests]) => `| ${row} | ${[...new Set(tests)].join('<br>')} |`),
    '',
  ].join('\n')
}

function specFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.spec.ts')).sort().map(name => join(folder, name))
}

function rowsOf(title: string): readonly string[] {
  const rows = new Set(Array.from(title.matchAll(ROW), ([row]) => row))
  for (const [, prefix = '', from, to] of title.matchAll(RANGE)) {
    for (let row = Number(from); row <= Number(to); row += 1) rows.add(`${prefix}${row}`)
  }
  return [...rows]
}

function orderOf(row: string): number {
  return 'RTF'.indexOf(row[0] ?? '') * 1000 + Number(row.replace(/\D/gu, ''))
}
