/** Collects the independent faults of one input and the JSON paths they are at. Positions in a text are added by whoever read the text. */
import type { Fault } from '../errors.ts'

/** Faults kept one by one; the rest is counted. */
const MAX_FAULTS = 1_000

export interface FaultList {
  readonly add: (path: string, message: string, suggestion?: string) => void
  readonly count: () => number
  /** All faults in the order they were found; a last one tells how many more there were beyond `MAX_FAULTS`. */
  readonly all: () => readonly Fault[]
}

export function faultList(): FaultList {
  const faults: Fault[] = []
  let total = 0
  return {
    add(path, message, suggestion) {
      total += 1
      if (total <= MAX_FAULTS) faults.push(suggestion === undefined ? { path, message } : { path, message, suggestion })
    },
    count: () => total,
    all: () => total <= MAX_FAULTS ? faults : [...faults, { path: '$', message: `${total - MAX_FAULTS} more faults are not listed.` }],
  }
}

/** `$.tasks` + `checks` = `$.tasks.checks`; a key that is no plain name is quoted: `$["a b"]`. */
export function memberPath(parent: string, key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `${parent}.${key}` : `${parent}[${JSON.stringify(key)}]`
}

export function itemPath(parent: string, index: number): string {
  return `${parent}[${index}]`
}
