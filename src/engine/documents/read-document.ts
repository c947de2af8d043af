/**
 * Reads one JSON or YAML file into a plain value that can tell afterwards where in the text a path stands.
 * Owns the limits on files (regular, size, UTF-8, NUL); what the value means is for the decoders.
 */
import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { errnoOf } from '../../errno.ts'
import type { Fault } from '../../errors.ts'
import { parseJsonText } from './json-text.ts'
import { locateFaults, locateSyntax } from './text-positions.ts'
import { parseYamlText } from './yaml-text.ts'

/** Larger files are refused; 100,000 tasks with long texts stay below. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

/** What Node puts in the place of bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd'
const BYTE_ORDER_MARK = '\ufeff'

interface TextDocument {
  readonly format: 'json' | 'yaml'
  readonly text: string
  readonly value: unknown
  /** The same faults with line and column, where their path stands in the text. */
  readonly locate: (faults: readonly Fault[]) => readonly Fault[]
}

export type ReadDocument =
  | { readonly kind: 'document', readonly document: TextDocument }
  | { readonly kind: 'missing' }
  /** `message` goes on after the path; `faults` says where, for syntax; `cause` is the error of the system, where there was one. */
  | { readonly kind: 'unreadable', readonly message: string, readonly faults: readonly Fault[], readonly cause?: unknown }

/**
 * Never throws. Synchronous, since a large file is faster read in one piece and JSON.parse holds the thread for longer than the disk does.
 * `maxBytes` is for tests.
 */
export function readDocument(path: string, maxBytes: number = MAX_DOCUMENT_BYTES): ReadDocument {
  let file: number
  try {
    // Non-blocking, so that a named pipe is refused below instead of waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return { kind: 'missing' }
    return { kind: 'unreadable', message: `can't be opened (${errorCode(cause)})`, faults: [], cause }
  }
  try {
    const facts = fstatSync(file)
    if (!facts.isFile()) return refused(facts.isDirectory() ? 'is a directory, not a file' : 'is no regular file')
    if (facts.size > maxBytes) return refused(`has ${facts.size} bytes; at most ${maxBytes} are read`)
    const text = readFileSync(file, 'utf8')
    if (text.includes(REPLACEMENT) && !isUtf8(readFileSync(path))) return refused('is not UTF-8 text; save it as UTF-8')
    return parseDocument(path, text)
  } catch (cause) {
    return { kind: 'unreadable', message: `can't be read (${errorCode(cause)})`, faults: [], cause }
  } finally {
    closeSync(file)
  }
}

/** JSON or YAML by the extension of `path`, else by the first character. */
function parseDocument(path: string, read: string): ReadDocument {
  const text = read.startsWith(BYTE_ORDER_MARK) ? read.slice(1) : read
  const nul = text.indexOf('\0')
  if (nul !== -1) {
    return {
      kind: 'unreadable',
      message: 'holds a NUL character',
      faults: locateSyntax(text, [{ offset: nul, message: 'A NUL character is not allowed.' }]),
    }
  }
  const format = formatOf(path, text)
  const parsed = format === 'json' ? parseJsonText(text) : parseYamlText(text)
  if (parsed.kind === 'malformed') {
    return {
      kind: 'unreadable', message: `is no well-formed ${parsed.syntax}`, faults: locateSyntax(text, parsed.faults),
    }
  }
  const { value, offsets } = parsed
  return { kind: 'document', document: { format, text, value, locate: faults => locateFaults(text, faults, offsets) } }
}

function formatOf(path: string, text: string): 'json' | 'yaml' {
  const extension = extname(path).toLowerCase()
  if (extension === '.json') return 'json'
  if (extension === '.yaml' || extension === '.yml') return 'yaml'
  return /^\s*[[{]/.test(text) ? 'json' : 'yaml'
}

function refused(message: string): ReadDocument {
  return { kind: 'unreadable', message, faults: [] }
}

function errorCode(cause: unknown): string {
  return errnoOf(cause) ?? String(cause)
}
