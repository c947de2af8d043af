/** Writes `docs/errors.md`, `docs/configuration.md` and the configuration table of the README, where that has the markers. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderConfigPage, renderErrorsPage, replaceConfigBlock } from './docs/render.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const readme = join(root, 'README.md')

writeFileSync(join(root, 'docs', 'errors.md'), renderErrorsPage())
writeFileSync(join(root, 'docs', 'configuration.md'), renderConfigPage())
if (existsSync(readme)) writeFileSync(readme, replaceConfigBlock(readFileSync(readme, 'utf8')))
