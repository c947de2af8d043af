/** `config explain`: every key with its value and origin. Values of environment variables are never shown. */
import { explainConfig } from '../../config/explain.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'

export async function configExplainCommand(_args: readonly string[], options: CommonOptions, output: Output): Promise<number> {
  const resolved = configOf(options)
  const rows = explainConfig(resolved)
  const width = Math.max(...rows.map(row => row.key.length))
  for (const row of rows) output.say(`${row.key.padEnd(width)}  ${row.origin.padEnd(7)}  ${row.value}`)
  for (const warning of resolved.warnings) output.warn(`warning: ${warning}`)
  output.document({ values: rows, warnings: resolved.warnings })
  return 0
}
