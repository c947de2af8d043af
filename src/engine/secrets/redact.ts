/**
 * Replaces secret values in everything that leaves a launch directory: journal, logs, reports, notices (T22).
 * One redactor serves a run. Owns which values are secret and how text is searched; `secret-forms.ts` owns how a secret may look.
 */
import { formsOf, MIN_SECRET_LENGTH, TOKEN_SHAPES } from './secret-forms.ts'

/** Fields of a structured value that are left alone: `always`, or (`words`) while they hold one plain lower-case word such as `killed-externally`. */
export interface ExactFields {
  readonly always: ReadonlySet<string>
  readonly words: ReadonlySet<string>
}

export interface Redactor {
  /** Names of the variables whose values are replaced, sorted. */
  readonly names: readonly string[]
  /** True when `redact` would change something. */
  readonly finds: (text: string) => boolean
  /** Replaces every secret by `<redacted:NAME>`, a token known only by its shape by `<redacted:token>`. */
  readonly redact: (text: string) => string
  /** The same for all strings inside a JSON value; object keys and exact fields stay. Unchanged parts are shared. */
  readonly redactDeep: <T>(value: T, exact?: ExactFields) => T
  /** Every non-overlapping secret in `text`, in order. */
  readonly matches: (text: string) => readonly { readonly start: number, readonly end: number }[]
  /** Length of the longest literal form that contains a line break; 0 when none does. */
  readonly multilineLength: number
}

export interface SecretSources {
  /** An environment; only variables whose names look secret count. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Variables the configuration adds to the child's environment: all of them count. */
  readonly configEnv?: Readonly<Record<string, string>>
}

const SECRET_NAME = /TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY|COOKIE|(?:^|_)(?:KEYS?|AUTH|PASS|PAT|DSN)(?:_|$)/i
/** Values of such variables that tell nothing, for example `NO_AUTH=disabled`. */
const PLAIN_VALUE = /^(?:true|false|enabled|disabled|default|required|optional|always|never)$/i
const WORD = /^[a-z]{1,16}(?:-[a-z]{1,16}){0,3}$/

export function looksSecret(name: string): boolean {
  return SECRET_NAME.test(name)
}

export function createRedactor(sources: SecretSources): Redactor {
  const labels = collectForms(sources)
  const literals = [...labels.keys()].sort((a, b) => b.length - a.length)
  const pattern = new RegExp([...literals.map(escapePattern), ...TOKEN_SHAPES].join('|'), 'g')
  const label = (match: string): string => `<redacted:${labels.get(match) ?? 'token'}>`

  const finds = (text: string): boolean => {
    pattern.lastIndex = 0
    return pattern.test(text)
  }
  const redact = (text: string): string => text.replaceAll(pattern, label)
  return {
    names: [...new Set(labels.values())].sort(),
    finds,
    redact,
    redactDeep: (value, exact = NOTHING_EXACT) => redactValue(value, { redact, exact }) as typeof value,
    matches: text => Array.from(text.matchAll(pattern), found => ({ start: found.index, end: found.index + found[0].length })),
    multilineLength: Math.max(0, ...literals.filter(form => form.includes('\n')).map(form => form.length)),
  }
}

function escapePattern(literal: string): string {
  return literal.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

function collectForms({ env, configEnv = {} }: SecretSources): ReadonlyMap<string, string> {
  const secrets: (readonly [string, string])[] = Object.entries(configEnv)
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && looksSecret(name) && !PLAIN_VALUE.test(value)) secrets.push([name, value])
  }
  const labels = new Map<string, string>()
  for (const [name, value] of secrets) {
    if (value.length < MIN_SECRET_LENGTH) continue
    const label = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_')
    for (const form of formsOf(value)) if (!labels.has(form)) labels.set(form, label)
  }
  return labels
}

const NOTHING_EXACT: ExactFields = { always: new Set(), words: new Set() }

interface Walk {
  readonly redact: (text: string) => string
  readonly exact: ExactFields
}

function redactValue(value: unknown, walk: Walk, field = ''): unknown {
  if (typeof value === 'string') {
    if (walk.exact.always.has(field) || (walk.exact.words.has(field) && WORD.test(value))) return value
    return walk.redact(value)
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(item => redactValue(item, walk, field))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const entries = Object.entries(value).map(([name, part]) => [name, redactValue(part, walk, name)] as const)
  return entries.every(([name, part]) => part === (value as Record<string, unknown>)[name]) ? value : Object.fromEntries(entries)
}
