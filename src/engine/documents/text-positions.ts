/** Turns offsets of a text into lines and columns, both 1-based, and puts them on faults. */
import { LineCounter } from 'yaml'
import type { Fault } from '../../errors.ts'

export interface SyntaxFault {
  readonly offset: number
  readonly message: string
}

export type ParsedText =
  /** `offsets` finds where the given JSON paths stand: the key of a member, the start of an item. */
  | { readonly kind: 'parsed', readonly value: unknown, readonly offsets: (wanted: ReadonlySet<string>) => ReadonlyMap<string, number> }
  | { readonly kind: 'malformed', readonly syntax: 'JSON' | 'YAML', readonly faults: readonly SyntaxFault[] }

/**
 * Adds positions by path and sorts by them, those without first. A path that stands nowhere in the text (a missing key) gets the
 * place of what should hold it.
 */
export function locateFaults(
  text: string, faults: readonly Fault[], offsets: (wanted: ReadonlySet<string>) => ReadonlyMap<string, number>,
): readonly Fault[] {
  const found = offsets(new Set(faults.flatMap(({ path }) => [path, parentPath(path)])))
  const lines = lineCounter(text)
  return faults
    .map(fault => ({ fault, offset: found.get(fault.path) ?? found.get(parentPath(fault.path)) ?? -1 }))
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ fault, offset }) => offset < 0 ? fault : { ...fault, ...positionAt(lines, offset) })
}

export function locateSyntax(text: string, faults: readonly SyntaxFault[]): readonly Fault[] {
  const lines = lineCounter(text)
  return faults.map(({ offset, message }) => ({ path: '$', message, ...positionAt(lines, offset) }))
}

function parentPath(path: string): string {
  return path.replace(/(?:\.[^.[\]"]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])$/, '')
}

function lineCounter(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  return lines
}

function positionAt(lines: LineCounter, offset: number): { readonly line: number, readonly column: number } {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}
