/** Structural comparison of two folds: the replay test, and the check of a snapshot against the journal. */

/** The first place where the two differ, as a path such as `tasks[3].state.status`; null = equal. Iterative; understands objects, arrays, maps and sets. */
export function stateDifference(left: unknown, right: unknown): string | null {
  const open: { readonly path: string, readonly left: unknown, readonly right: unknown }[] = [{ path: '', left, right }]
  const seen = new Map<object, unknown>()
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (Object.is(pair.left, pair.right)) continue
    if (!isObject(pair.left) || !isObject(pair.right)) return pair.path
    // State refers to the same task from several places: compare each pair of objects once.
    if (seen.get(pair.left) === pair.right) continue
    seen.set(pair.left, pair.right)
    const before = membersOf(pair.left)
    const after = new Map(membersOf(pair.right))
    if (before.length !== after.size) return pair.path
    for (const [key, value] of before) {
      if (!after.has(key)) return `${pair.path}.${key}`
      open.push({ path: Array.isArray(pair.left) ? `${pair.path}[${key}]` : `${pair.path}.${key}`, left: value, right: after.get(key) })
    }
  }
  return null
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function membersOf(value: object): readonly (readonly [string, unknown])[] {
  if (value instanceof Map) return [...value].map(([key, member]) => [String(key), member])
  if (value instanceof Set) return [...value].map(member => [String(member), member])
  return Object.entries(value)
}
