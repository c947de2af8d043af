/**
 * Parses a JSON text, and finds where things stand in it. The walk over the text runs only after something was found wrong,
 * so that a good file costs one JSON.parse and one count of its keys. It keeps a stack of its own; paths have the form of `../../core/fault-list.ts`.
 */
import { itemPath, memberPath } from '../../core/fault-list.ts'
import type { ParsedText, SyntaxFault } from './text-positions.ts'

export function parseJsonText(text: string): ParsedText {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const found = walkJson(text, () => undefined)
    const message = cause instanceof Error ? cause.message : String(cause)
    return { kind: 'malformed', syntax: 'JSON', faults: [found ?? { offset: 0, message }] }
  }
  // JSON.parse keeps the last of two equal keys and says nothing.
  if (text.length <= MAX_COUNTED_CHARS && keysIn(text) !== keysOf(value)) {
    const faults = repeatedKeys(text)
    if (faults.length > 0) return { kind: 'malformed', syntax: 'JSON', faults }
  }
  return { kind: 'parsed', value, offsets: wanted => jsonOffsets(text, wanted) }
}

/** Larger texts are written by programs, which do not repeat keys; counting theirs would cost half a JSON.parse more. */
const MAX_COUNTED_CHARS = 4 * 1024 * 1024

/**
 * Keys written in well-formed JSON, nearly: a quote with a colon behind it ends a key, unless it is escaped or opens a string that begins with a colon.
 * A wrong count only costs the walk that tells for sure.
 */
function keysIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) if (text.charCodeAt(at - 1) !== BACKSLASH) count += 1
  return count
}

const BACKSLASH = 0x5C

function keysOf(value: unknown): number {
  let count = 0
  const open: object[] = []
  const look = (member: unknown): void => {
    if (typeof member === 'object' && member !== null) open.push(member)
  }
  look(value)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      for (const member of next as readonly unknown[]) look(member)
      continue
    }
    const members = next as Readonly<Record<string, unknown>>
    for (const key in members) {
      count += 1
      look(members[key])
    }
  }
  return count
}

const MAX_REPEATED = 20

function repeatedKeys(text: string): SyntaxFault[] {
  const first = new Map<string, number>()
  const faults: SyntaxFault[] = []
  walkJson(text, (path, offset) => {
    const before = first.get(path)
    if (before === undefined) first.set(path, offset)
    else if (faults.length < MAX_REPEATED) faults.push({ offset, message: `The key of ${path} stands twice in one object; the earlier value would be lost.` })
  })
  return faults
}

function jsonOffsets(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>()
  walkJson(text, (path, offset) => {
    if (wanted.has(path)) offsets.set(path, offset)
  })
  return offsets
}

interface Level {
  readonly kind: 'object' | 'array'
  readonly path: string
  index: number
}

/**
 * Calls `visit` with the path and offset of the root, of every member (its key) and of every item, in order of the text.
 * Returns the first syntax fault, or null for well-formed JSON.
 */
function walkJson(text: string, visit: (path: string, offset: number) => void): SyntaxFault | null {
  const stack: Level[] = []
  let at = skipSpace(text, 0)
  let path = '$'
  visit(path, at)
  for (;;) {
    const opened = text[at]
    if (opened === '{' || opened === '[') {
      const level: Level = { kind: opened === '{' ? 'object' : 'array', path, index: -1 }
      at = skipSpace(text, at + 1)
      if (text[at] === (opened === '{' ? '}' : ']')) {
        at += 1
      } else {
        stack.push(level)
        const next = enter(level)
        if (typeof next !== 'string') return next
        path = next
        continue
      }
    } else {
      const end = scalarEnd(text, at)
      if (typeof end !== 'number') return end
      at = end
    }
    const next = leave()
    if (typeof next !== 'string') return next
    path = next
  }

  /** From the end of a value to the start of the next one, whose path it returns; null = the text is over. */
  function leave(): string | SyntaxFault | null {
    for (;;) {
      at = skipSpace(text, at)
      const level = stack.at(-1)
      if (level === undefined) return at === text.length ? null : expected(text, at, 'the end of the text')
      const closing = level.kind === 'object' ? '}' : ']'
      if (text[at] === ',') {
        at = skipSpace(text, at + 1)
        return enter(level)
      }
      if (text[at] !== closing) return expected(text, at, `"," or "${closing}"`)
      at += 1
      stack.pop()
    }
  }

  /** Goes to the value of the next member or item and returns its path. */
  function enter(level: Level): string | SyntaxFault {
    const start = at
    level.index += 1
    if (level.kind === 'array') {
      const found = itemPath(level.path, level.index)
      visit(found, start)
      return found
    }
    if (text[at] !== '"') return expected(text, at, 'a key in double quotes')
    const end = stringEnd(text, at)
    if (typeof end !== 'number') return end
    const key: unknown = JSON.parse(text.slice(at, end))
    at = skipSpace(text, end)
    if (text[at] !== ':') return expected(text, at, '":" after a key')
    at = skipSpace(text, at + 1)
    const found = memberPath(level.path, String(key))
    visit(found, start)
    return found
  }
}

const NUMBER_OR_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

function scalarEnd(text: string, at: number): number | SyntaxFault {
  if (text[at] === '"') return stringEnd(text, at)
  NUMBER_OR_WORD.lastIndex = at
  return NUMBER_OR_WORD.test(text) ? NUMBER_OR_WORD.lastIndex : expected(text, at, 'a value')
}

function stringEnd(text: string, start: number): number | SyntaxFault {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) return at + 1
    if (unit < 0x20) return { offset: at, message: `A text must not hold a raw control character; write ${escapeFor(unit)}.` }
    if (unit !== 0x5c) continue
    ESCAPE.lastIndex = at + 1
    if (!ESCAPE.test(text)) return { offset: at, message: 'Unknown escape in a text; a backslash itself is written \\\\.' }
    at += 1
  }
  return { offset: start, message: 'This text has no closing double quote.' }
}

function escapeFor(unit: number): string {
  return unit === 0x0a ? '\\n' : unit === 0x09 ? '\\t' : `\\u${unit.toString(16).padStart(4, '0')}`
}

function skipSpace(text: string, from: number): number {
  let at = from
  for (;;) {
    const unit = text.charCodeAt(at)
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return at
    at += 1
  }
}

function expected(text: string, offset: number, wanted: string): SyntaxFault {
  const seen = text[offset]
  if (seen === undefined) return { offset, message: `The text ends where ${wanted} was expected.` }
  const comment = text.startsWith('//', offset) || text.startsWith('/*', offset)
  if (comment) return { offset, message: 'JSON has no comments; a .yaml file may have them.' }
  const afterComma = (seen === '}' || seen === ']') && /,\s*$/.test(text.slice(Math.max(0, offset - 200), offset))
  return { offset, message: `Expected ${wanted}, found ${JSON.stringify(seen)}${afterComma ? '; remove the comma before it' : ''}.` }
}
