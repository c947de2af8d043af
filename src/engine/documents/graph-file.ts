/** From the path of a graph file to a validated graph, or to one error that lists every fault with its place (R-53, T24, F24). */
import { decodeGraph, type DecodeGraphOptions } from '../../core/decode-graph.ts'
import type { Graph } from '../../core/graph-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { readDocument } from './read-document.ts'
import { faultCount, listFaults } from '../../core/show-faults.ts'

export interface GraphFile {
  readonly graph: Graph
  readonly format: 'json' | 'yaml'
  /** The file as it was read, a byte order mark left out, for the records of the run. */
  readonly text: string
}

/** Reads JSON or YAML. Throws `OC_GRAPH_UNREADABLE` or `OC_GRAPH_INVALID`. */
export function readGraphFile(path: string, options: DecodeGraphOptions): GraphFile {
  const read = readDocument(path)
  if (read.kind === 'missing') {
    throw new OpenClaudeError('OC_GRAPH_UNREADABLE', `Graph file ${path} does not exist.`, { subject: path, fix: 'Check the path.' })
  }
  if (read.kind === 'unreadable') {
    throw new OpenClaudeError('OC_GRAPH_UNREADABLE', `Graph file ${path} ${read.message}${listFaults(read.faults)}`, {
      subject: path, fix: 'Correct the file; it must be JSON or YAML.', faults: read.faults, cause: read.cause,
    })
  }
  const { document } = read
  const decoded = decodeGraph(document.value, options)
  if (decoded.kind === 'faults') {
    const faults = document.locate(decoded.faults)
    throw new OpenClaudeError('OC_GRAPH_INVALID', `Graph file ${path} has ${faultCount(faults)}${listFaults(faults)}`, {
      subject: path, fix: 'Correct every listed place; nothing was started.', faults,
    })
  }
  const { format, text } = document
  return { graph: decoded.graph, format, text }
}
