/** Parses a YAML text (version 1.2, one document) and finds where things stand in it, from the ranges of its nodes. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, type Scalar, visit } from 'yaml'
import { itemPath, memberPath } from '../../core/fault-list.ts'
import type { ParsedText, SyntaxFault } from './text-positions.ts'

const MAX_SYNTAX_FAULTS = 20

export function parseYamlText(text: string): ParsedText {
  try {
    const documents = parseAllDocuments(text, { uniqueKeys: true, prettyErrors: false, logLevel: 'silent' })
    if (!Array.isArray(documents)) return { kind: 'parsed', value: null, offsets: () => new Map() }
    const [document, second] = documents
    if (document === undefined) return { kind: 'parsed', value: null, offsets: () => new Map() }
    if (second !== undefined) {
      return malformed([{ offset: second.range?.[0] ?? 0, message: 'A second document starts here; a file holds one.' }])
    }
    const faults = [...document.errors, ...document.warnings].map(error => ({ offset: error.pos[0], message: firstLine(error.message) }))
    if (faults.length === 0) faults.push(...impossibleAliases(document))
    if (faults.length > 0) return malformed(faults)
    const value: unknown = document.toJS()
    return { kind: 'parsed', value, offsets: wanted => yamlOffsets(document, wanted) }
  } catch (cause) {
    // Thrown for aliases that multiply, and for nesting deeper than the parser's own recursion.
    const thrown = firstLine(cause instanceof Error ? cause.message : String(cause))
    const message = cause instanceof RangeError ? 'The text is nested too deeply.' : thrown
    return malformed([{ offset: 0, message }])
  }
}

/** Aliases that name nothing, and those that would make the value contain itself: no walk over it would end. */
function impossibleAliases(document: Document): SyntaxFault[] {
  const found: SyntaxFault[] = []
  visit(document, {
    Alias(_, alias, ancestors) {
      const offset = startOf(alias) ?? 0
      const named = alias.resolve(document)
      if (named === undefined) found.push({ offset, message: `There is no anchor &${alias.source} before this alias.` })
      else if (ancestors.some(node => node === named)) found.push({ offset, message: `The alias *${alias.source} stands inside of what it names.` })
    },
  })
  return found
}

function malformed(faults: readonly SyntaxFault[]): ParsedText {
  return { kind: 'malformed', syntax: 'YAML', faults: faults.slice(0, MAX_SYNTAX_FAULTS) }
}

function yamlOffsets(document: Document, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>()
  const open: { readonly path: string, readonly node: unknown, readonly offset: number | undefined }[] = [
    { path: '$', node: document.contents, offset: undefined },
  ]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path } = next
    const node = isAlias(next.node) ? next.node.resolve(document) : next.node
    const offset = next.offset ?? startOf(next.node)
    if (offset !== undefined && wanted.has(path)) offsets.set(path, offset)
    if (isSeq(node)) node.items.forEach((item, index) => open.push({ path: itemPath(path, index), node: item, offset: undefined }))
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        if (isScalar(key)) open.push({ path: memberPath(path, keyText(key)), node: value, offset: startOf(key) })
      }
    }
  }
  return offsets
}

function startOf(node: unknown): number | undefined {
  return typeof node === 'object' && node !== null && 'range' in node ? (node as Node).range?.[0] : undefined
}

function keyText(key: Scalar): string {
  return typeof key.value === 'string' ? key.value : JSON.stringify(key.value ?? '')
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message
}
