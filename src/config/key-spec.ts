/**
 * What a configuration key is: its type, default, meaning and decoder, in one value, so that schema, defaults and documentation
 * can't drift.
 * The constructors here cover the shapes that keys have; which keys exist is `keys.ts`.
 */
import { itemPath } from '../core/fault-list.ts'
import { nameFinder } from '../core/nearest-name.ts'
import { observed } from '../core/observed.ts'
import { argumentText, flag, milliseconds, type Rule, text, wholeNumber } from '../core/value-rules.ts'

export type Surface = 'cli' | 'dsh'

/** Where a decoder reports what is wrong with one value. */
export interface KeyPlace {
  readonly key: string
  readonly path: string
  /** `wrong` goes on after the key: "must be ...; got 3". `path` is for a place inside the value. */
  readonly report: (wrong: string, facts?: { readonly path?: string, readonly suggestion?: string | undefined }) => void
}

export interface KeySpec<T> {
  /** For people: `text`, `milliseconds`, `true or false`, … */
  readonly type: string
  readonly meaning: string
  /** What a bad value gets, for people. */
  readonly bad: string
  readonly fallback: (surface: Surface) => T
  /** Returns null after it reported a fault. */
  readonly decode: (value: unknown, place: KeyPlace) => T | null
}

interface Facts<T> {
  readonly fallback: T | ((surface: Surface) => T)
  readonly meaning: string
  /** Said after the rule in the column for bad values. */
  readonly note?: string
}

/** A key of one value under one rule. `narrow` tells the compiler what the rule has proved. */
function ruled<T>(type: string, rule: Rule, narrow: (value: unknown) => value is T, facts: Facts<T>): KeySpec<T> {
  return {
    type,
    meaning: facts.meaning,
    bad: joined(rule(undefined), facts.note),
    fallback: fallbackOf(facts.fallback),
    decode(value, place) {
      const wrong = rule(value)
      if (wrong === null && narrow(value)) return value
      place.report(`${wrong ?? 'has the wrong type'}; got ${observed(value)}`)
      return null
    },
  }
}

export function textKey(facts: Facts<string> & { readonly rule?: Rule }): KeySpec<string> {
  return ruled('text', facts.rule ?? text, isText, facts)
}

/** Empty, or a name that is passed to another program as an argument. */
export function nameKey(facts: Facts<string>): KeySpec<string> {
  const wrong = 'must be empty, or text that does not start with "-" and holds no control characters'
  return ruled('text', value => value === '' || argumentText(value) === null ? null : wrong, isText, facts)
}

export function wholeKey(facts: Facts<number> & { readonly least: number, readonly most?: number }): KeySpec<number> {
  return ruled('whole number', wholeNumber(facts.least, facts.most), isNumber, facts)
}

export function millisecondsKey(facts: Facts<number> & { readonly zero: 'off' | 'refused' | 'allowed' }): KeySpec<number> {
  return ruled('milliseconds', milliseconds(facts.zero), isNumber, facts)
}

export function numberKey(facts: Facts<number> & { readonly rule: Rule }): KeySpec<number> {
  return ruled('number', facts.rule, isNumber, facts)
}

export function flagKey(facts: Facts<boolean>): KeySpec<boolean> {
  return ruled('true or false', flag, isFlag, facts)
}

export function choiceKey<const T extends string>(choices: readonly T[], facts: Facts<NoInfer<T>>): KeySpec<T> {
  const shown = choices.map(choice => choice === '' ? '"" (empty)' : choice).join(', ')
  return {
    type: choices.map(choice => choice === '' ? '""' : choice).join(' or '),
    meaning: facts.meaning,
    bad: joined(`must be one of ${shown}`, facts.note),
    fallback: fallbackOf(facts.fallback),
    decode(value, place) {
      const choice = choices.find(known => known === value)
      if (choice !== undefined) return choice
      place.report(
        `must be one of ${shown}; got ${observed(value)}`,
        { suggestion: typeof value === 'string' ? nameFinder(choices).nearest(value) : undefined },
      )
      return null
    },
  }
}

export function textListKey(facts: Facts<readonly string[]> & { readonly rule: Rule, readonly each: string }): KeySpec<readonly string[]> {
  return {
    type: 'list of texts',
    meaning: facts.meaning,
    bad: joined(`must be a list; ${facts.each} ${facts.rule(undefined) ?? ''}`, facts.note),
    fallback: fallbackOf(facts.fallback),
    decode: (value, place) => decodeTextList(value, place, facts.rule, facts.each),
  }
}

export function decodeTextList(value: unknown, place: KeyPlace, rule: Rule, each: string): readonly string[] | null {
  if (!Array.isArray(value)) {
    place.report(`must be a list of texts; got ${observed(value)}`)
    return null
  }
  const texts: string[] = []
  value.forEach((item: unknown, index) => {
    const wrong = rule(item)
    if (wrong === null && typeof item === 'string') texts.push(item)
    else place.report(`: ${each} ${wrong ?? 'must be text'}; got ${observed(item)}`, { path: itemPath(place.path, index) })
  })
  return texts.length === value.length ? texts : null
}

function fallbackOf<T>(fallback: T | ((surface: Surface) => T)): (surface: Surface) => T {
  return surface => isPerSurface(fallback) ? fallback(surface) : fallback
}

function isPerSurface<T>(fallback: T | ((surface: Surface) => T)): fallback is (surface: Surface) => T {
  return typeof fallback === 'function'
}

function joined(rule: string | null, note: string | undefined): string {
  return [`error: ${rule ?? 'wrong type'}`, ...(note === undefined ? [] : [note])].join('; ')
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
