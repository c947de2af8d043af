/**
 * The rules for single values that graph files and configuration share: texts, counts, milliseconds, globs.
 * A rule answers what is wrong as a phrase ("must be ..."), or null when the value keeps it. Not in here: which key has which rule.
 */

/** Timers of Node end here; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647
/** One argument of a program may have 128 KiB on Linux; a command line is one argument of `sh -c`. */
export const MAX_COMMAND_LENGTH = 100_000

export const CHECK_NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/

export type Rule = (value: unknown) => string | null

export const hasNul = (text: string): boolean => text.indexOf('\0') !== -1

export const text: Rule = value => {
  if (typeof value !== 'string') return 'must be text'
  return hasNul(value) ? NUL_REFUSED : null
}

export const filledText: Rule = value => {
  if (typeof value !== 'string' || value.trim() === '') return 'must be text that is not blank'
  return hasNul(value) ? NUL_REFUSED : null
}

/** A name that ends up as an argument of another program: it must not look like a flag or break a line. */
export const argumentText: Rule = value => {
  if (typeof value !== 'string' || value.trim() === '') return 'must be text that is not blank'
  return /^-|\p{Cc}/u.test(value) ? 'must not start with "-" or hold control characters' : null
}

export const commandLine: Rule = value => {
  const wrong = filledText(value)
  if (wrong !== null) return wrong
  return String(value).length > MAX_COMMAND_LENGTH ? `must be a command line of at most ${MAX_COMMAND_LENGTH} characters` : null
}

export const finiteNumber: Rule = value => typeof value === 'number' && Number.isFinite(value) ? null : 'must be a number'

export const flag: Rule = value => typeof value === 'boolean' ? null : 'must be true or false'

export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): Rule {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  return value => typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
    ? null
    : `must be a whole number ${range}`
}

/** What 0 means for a time: the clock is off, "at once" is a sensible value, or neither. */
export type ZeroMeaning = 'off' | 'allowed' | 'refused'

export function milliseconds(zero: ZeroMeaning): Rule {
  const inRange = wholeNumber(zero === 'refused' ? 1 : 0, MAX_TIMER_MS)
  const range = {
    off: `1 to ${MAX_TIMER_MS}, or 0 for off`,
    allowed: `0 to ${MAX_TIMER_MS}`,
    refused: `1 to ${MAX_TIMER_MS} (it can't be switched off)`,
  }[zero]
  return value => inRange(value) === null ? null : `must be a whole number of milliseconds from ${range}`
}

/** A pattern for files below the work tree: relative, forward slashes, never out of the tree. */
export const treeGlob: Rule = value => {
  const wrong = filledText(value)
  if (wrong !== null) return wrong
  const pattern = String(value)
  if (pattern.startsWith('/') || /^[A-Za-z]:/.test(pattern)) return 'must be relative to the work tree'
  if (pattern.includes('\\')) return 'must use forward slashes'
  if (pattern.startsWith('!')) return 'must not be negated'
  return pattern.split('/').includes('..') ? 'must not climb out of the work tree with ".."' : null
}

export const NUL_REFUSED = 'must not hold a NUL character'
