/** Reads a configuration file, named by `--config` or the user's own, into a layer for `resolveConfig`. */
import type { ConfigLayer } from '../../config.ts'
import { listFaults } from '../../core/show-faults.ts'
import { OpenClaudeError } from '../../errors.ts'
import { readDocument } from './read-document.ts'

/** JSON or YAML. Throws `OC_CONFIG_INVALID` when the file is missing or can't be read; an empty file is an empty layer. */
export function readConfigFile(path: string): ConfigLayer {
  const layer = readOptionalConfigFile(path)
  if (layer !== undefined) return layer
  throw new OpenClaudeError(
    'OC_CONFIG_INVALID', `Configuration file ${path} does not exist.`, { subject: path, fix: 'Check the path after --config.' },
  )
}

/** The same for the user's file (`userConfigPath`), which need not exist. */
export function readOptionalConfigFile(path: string): ConfigLayer | undefined {
  const read = readDocument(path)
  if (read.kind === 'missing') return undefined
  if (read.kind === 'unreadable') {
    throw new OpenClaudeError('OC_CONFIG_INVALID', `Configuration file ${path} ${read.message}${listFaults(read.faults)}`, {
      subject: path, fix: 'Correct the file; it must be JSON or YAML.', faults: read.faults, cause: read.cause,
    })
  }
  return { value: read.document.value, source: path, locate: read.document.locate }
}
