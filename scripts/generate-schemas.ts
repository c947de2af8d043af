/** Writes the published JSON Schemas below the folder given as the argument, default `lib/schemas`. Run by the build. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { graphJsonSchema } from './schemas/graph-schema.ts'
import { reportJsonSchema } from './schemas/report-schema.ts'

const SCHEMAS = {
  'graph.schema.json': graphJsonSchema,
  'report.schema.json': reportJsonSchema,
}

const folder = process.argv[2] ?? join(dirname(dirname(fileURLToPath(import.meta.url))), 'lib', 'schemas')
mkdirSync(folder, { recursive: true })
for (const [name, schema] of Object.entries(SCHEMAS)) writeFileSync(join(folder, name), `${JSON.stringify(schema(), null, 2)}\n`)
