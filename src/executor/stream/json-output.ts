/**
 * The fallback for json format: the last parseable envelope in a text that may hold noise before, behind and between.
 * With `--verbose` the envelope is one array of all records. Stream-json never comes here.
 */
import type { ChildRecord } from './child-record.ts'
import { isObject } from './json-value.ts'
import { decodeValue } from './liveness.ts'

export type JsonOutput =
  /** All records of the envelope, the result last; to be folded like those of a stream. */
  | { readonly kind: 'envelope', readonly records: readonly ChildRecord[] }
  /** `empty`: nothing but white space. `no-json`: no JSON object or array. `no-result`: JSON, none of it a result. */
  | { readonly kind: 'no-envelope', readonly reason: 'empty' | 'no-json' | 'no-result' }

/** Texts spread over lines are looked at from this many starts only, so that noise costs no square of its length. */
const MAX_STARTS = 50

/** @param stdout The whole output of a child that ran in json format. */
export function readJsonOutput(stdout: string): JsonOutput {
  if (stdout.trim() === '') return { kind: 'no-envelope', reason: 'empty' }
  let json = false
  let last: readonly ChildRecord[] | null = null
  for (const value of jsonValues(stdout)) {
    json = true
    last = envelopeOf(value) ?? last
  }
  if (last !== null) return { kind: 'envelope', records: last }
  return { kind: 'no-envelope', reason: json ? 'no-result' : 'no-json' }
}

function envelopeOf(value: unknown): readonly ChildRecord[] | null {
  const records = (Array.isArray(value) ? value : [value]).map(decodeValue)
  const end = records.findLastIndex(record => record.kind === 'result')
  return end < 0 ? null : records.slice(0, end + 1)
}

/** JSON objects and arrays in order: whole lines, else balanced texts that start at a brace. */
function* jsonValues(text: string): Generator<unknown> {
  let starts = 0
  let position = 0
  while (position < text.length) {
    const lineEnd = endOfLine(text, position)
    const line = text.slice(position, lineEnd)
    const start = line.search(/[[{]/)
    if (start < 0) {
      position = lineEnd + 1
      continue
    }
    const whole = parse(line.slice(start))
    if (whole !== undefined) {
      yield whole
      position = lineEnd + 1
      continue
    }
    const end = starts < MAX_STARTS ? endOfBalanced(text, position + start) : null
    starts += 1
    const value = end === null ? undefined : parse(text.slice(position + start, end))
    if (value !== undefined) yield value
    position = value === undefined || end === null ? position + start + 1 : end
    if (starts >= MAX_STARTS && value === undefined) position = lineEnd + 1
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) || Array.isArray(value) ? value : undefined
  } catch {
    // JSON.parse throws nothing but syntax errors: these characters are noise.
    return undefined
  }
}

/** Position behind the bracket that closes the one at `start`; brackets inside strings don't count. Null when it stays open. */
function endOfBalanced(text: string, start: number): number | null {
  let depth = 0
  let inString = false
  for (let position = start; position < text.length; position += 1) {
    const char = text[position]
    if (inString) {
      if (char === '\\') position += 1
      else if (char === '"') inString = false
    } else if (char === '"') {
      inString = true
    } else if (char === '{' || char === '[') {
      depth += 1
    } else if (char === '}' || char === ']') {
      depth -= 1
      if (depth === 0) return position + 1
    }
  }
  return null
}
