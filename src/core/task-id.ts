/** The rule for task ids: they become folder names, branch names and parts of refs, so they are stricter than a title. */

const LOWER = /^[a-z0-9][a-z0-9_-]{0,63}$/
const SHAPE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export const TASK_ID_PATTERN = '^(?!.*\\.\\.)(?!.*(\\.|\\.[lL][oO][cC][kK])$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'

export const TASK_ID_RULE = 'starts with a letter or digit, goes on with letters, digits, ".", "_" or "-", has at most 64 characters, '
  + 'no ".." and no "." or ".lock" at its end'

export function isTaskId(text: string): boolean {
  if (!SHAPE.test(text)) return false
  return text.indexOf('.') === -1 || !(text.includes('..') || text.endsWith('.') || text.toLowerCase().endsWith('.lock'))
}

/** The same rule for the common case: no upper-case letter and no dot. False says nothing. */
export function isLowerTaskId(text: string): boolean {
  return LOWER.test(text)
}

/** The nearest id that keeps the rule, for a suggestion; undefined when nothing of the text can be kept. */
export function repairTaskId(text: string): string | undefined {
  const kept = text.normalize('NFKD').replace(/[^A-Za-z0-9._-]+/g, '-').replace(/\.{2,}/g, '.').replace(/^[^A-Za-z0-9]+/, '').slice(0, 64)
  const repaired = kept.replace(/(?:\.lock)+$/i, '').replace(/[.-]+$/, '')
  return isTaskId(repaired) ? repaired : undefined
}
