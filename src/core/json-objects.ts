/**
 * Finds JSON objects in text that a model wrote: bare, fenced, or in the middle of prose. A scanner that knows strings and escapes,
 * so braces inside strings neither open nor close anything. Linear but for a bounded number of restarts; never throws.
 */

/** Longer text is not looked at: no honest answer is that long. */
export const MAX_SCANNED_CHARS = 1024 * 1024

const MAX_STARTS = 10_000

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Outermost objects in order of appearance. An object that is balanced but no JSON hides what is in it: a part of a broken answer
 * is not an answer. An object without an end hides the rest, unless a fenced block after it stands for itself.
 */
export function findJsonObjects(text: string): readonly JsonObject[] {
  if (text.length > MAX_SCANNED_CHARS) return []
  const whole = scan(text)
  if (whole.complete) return whole.objects
  return [...whole.objects, ...fencedBlocks(text).flatMap(block => scan(block).objects)]
}

function scan(text: string): { readonly objects: readonly JsonObject[], readonly complete: boolean } {
  const objects: JsonObject[] = []
  const opening = /\{(?=\s*(?:\}|"(?:[^"\\\n]|\\.)*"\s*:))/gu
  for (let starts = 0; starts < MAX_STARTS; starts += 1) {
    const found = opening.exec(text)
    if (found === null) return { objects, complete: true }
    const end = endOfObject(text, found.index)
    if (end.kind === 'unbalanced') return { objects, complete: false }
    opening.lastIndex = end.at
    const object = end.kind === 'closed' ? parseObject(text.slice(found.index, end.at)) : null
    if (object !== null) objects.push(object)
  }
  return { objects, complete: false }
}

type End =
  | { readonly kind: 'closed', readonly at: number }
  /** A line ended inside a string: what looked like an object was prose. */
  | { readonly kind: 'prose', readonly at: number }
  | { readonly kind: 'unbalanced' }

function endOfObject(text: string, start: number): End {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at += 1
      else if (char === '"') inString = false
      else if (char === '\n') return { kind: 'prose', at: at + 1 }
    } else if (char === '"') inString = true
    else if (char === '{') depth += 1
    else if (char === '}') {
      depth -= 1
      if (depth === 0) return { kind: 'closed', at: at + 1 }
    }
  }
  return { kind: 'unbalanced' }
}

function fencedBlocks(text: string): readonly string[] {
  const blocks: string[] = []
  let open: string[] | null = null
  for (const line of text.split('\n')) {
    if (/^\s{0,3}(?:```|~~~)/u.test(line)) {
      if (open !== null) blocks.push(open.join('\n'))
      open = open === null ? [] : null
    } else open?.push(line)
  }
  return blocks
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    // Balanced, but no JSON: code, or a broken answer.
    return null
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
