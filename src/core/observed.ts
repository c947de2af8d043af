/**
 * How a wrong value is shown in a fault message: short, on one line, printable.
 * Does not decide what may be shown: a caller that handles secrets must not pass them in.
 */

const SHOWN_CHARACTERS = 60

/** `"text"`, `12`, `null`, `a list of 3`, `an object with keys a, b`. Never longer than about 100 characters. */
export function observed(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return describeObject(value)
  if (value === undefined) return 'nothing'
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? String(value) : `a ${typeof value}`
}

/** A text in double quotes, control characters escaped, cut after 60 characters. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
  return JSON.stringify(shown).replace(/[\u007f-\u009f\u2028\u2029]/g, escapeUnit)
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function describeObject(value: object): string {
  const keys = Object.keys(value)
  if (keys.length === 0) return 'an empty object'
  const shown = keys.slice(0, 3).map(key => key.slice(0, 20)).join(', ')
  return `an object with ${keys.length === 1 ? 'key' : 'keys'} ${shown}${keys.length > 3 ? ', …' : ''}`
}
