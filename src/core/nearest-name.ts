/**
 * The nearest valid name for a mistyped one. The work is bounded, because a graph of 100,000 ids with as many
 * mistakes must still be answered: past the budget a name simply gets no suggestion.
 */
import { distance } from 'fastest-levenshtein'

export interface NameFinder {
  /** The nearest of the names, or undefined when none is near or the budget is spent. */
  readonly nearest: (name: string) => string | undefined
}

/** Distances computed at most by one finder; well below a second of work. */
const NAME_COMPARISONS = 200_000

export function nameFinder(names: readonly string[], comparisons: number = NAME_COMPARISONS): NameFinder {
  let left = comparisons
  return {
    nearest(name) {
      if (left <= 0) return undefined
      const wanted = name.slice(0, 128).toLowerCase()
      let best: string | undefined
      let bestDistance = reach(wanted) + 1
      for (const candidate of names) {
        if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue
        if (left-- <= 0) return best
        const found = distance(wanted, candidate.toLowerCase())
        if (found < bestDistance) {
          best = candidate
          bestDistance = found
        }
      }
      return best
    },
  }
}

/** How many edits still count as a typing mistake: 1 up to 3 characters, then 2, from 9 on a third of the length. */
function reach(name: string): number {
  return name.length <= 3 ? 1 : Math.max(2, Math.floor(name.length / 3))
}
