/**
 * Writes `docs/errors.md`, `docs/configuration.md` and the configuration table of `README.md` from the tables of the source,
 * and `docs/test-index.md` from the titles of the tests.
 * With `--check` nothing is written: it exits 1 and names each file that is not what would be written.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderConfigPage, renderErrorsPage, replaceConfigBlock } from './docs/render.ts'
import { renderTestIndex } from './docs/test-index.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const check = process.argv.includes('--check')

const FILES: Readonly<Record<string, (before: string) => string>> = {
  'docs/errors.md': renderErrorsPage,
  'docs/configuration.md': renderConfigPage,
  'docs/test-index.md': () => renderTestIndex(root),
  'README.md': replaceConfigBlock,
}

for (const [name, render] of Object.entries(FILES)) {
  const path = join(root, name)
  const before = readFileSync(path, 'utf8')
  const after = render(before)
  if (after === before) continue
  if (check) {
    process.stderr.write(`${name} is stale: run \`node scripts/generate-docs.ts\`\n`)
    process.exitCode = 1
  } else {
    writeFileSync(path, after)
  }
}
