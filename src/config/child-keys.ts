/** Keys about the child program: what is started, with which arguments, environment and rights. */
import { isRecord } from '../core/decode-checks.ts'
import { memberPath } from '../core/fault-list.ts'
import { observed } from '../core/observed.ts'
import { hasNul, filledText, MAX_TIMER_MS, NUL_REFUSED, type Rule } from '../core/value-rules.ts'
import { extraArgsKey } from './extra-args.ts'
import { choiceKey, decodeTextList, flagKey, type KeySpec, nameKey, textKey, textListKey, wholeKey } from './key-spec.ts'

/** Modes of OpenClaude's `--permission-mode`; empty = unattended, that is without asking. */
export const PERMISSION_MODES = ['', 'acceptEdits', 'bypassPermissions', 'default', 'dontAsk', 'fullAccess', 'plan', 'auto'] as const

const LEAST_HEARTBEAT_MS = 5_000
/** One argument of a program may have 128 KiB on Linux; the rest is for our own text. */
const MAX_SYSTEM_PROMPT_BYTES = 65_536
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Milliseconds of a heartbeat such as `30s`; null when the text is none. Empty means no heartbeat and is null too. */
export function heartbeatMs(heartbeat: string): number | null {
  const parts = /^(\d+)(ms|s|m)$/.exec(heartbeat)
  if (parts === null) return null
  const unit = parts[2] === 'ms' ? 1 : parts[2] === 's' ? 1_000 : 60_000
  return Number(parts[1]) * unit
}

const heartbeatRule: Rule = value => {
  const wrong = `must be empty or a whole number with ms, s or m, from 5s to ${MAX_TIMER_MS}ms`
  if (typeof value !== 'string') return wrong
  if (value === '') return null
  const ms = heartbeatMs(value)
  return ms === null || ms < LEAST_HEARTBEAT_MS || ms > MAX_TIMER_MS ? wrong : null
}

const systemPromptRule: Rule = value => {
  if (typeof value !== 'string') return `must be text of at most ${MAX_SYSTEM_PROMPT_BYTES} bytes`
  if (hasNul(value)) return NUL_REFUSED
  return Buffer.byteLength(value) > MAX_SYSTEM_PROMPT_BYTES ? `must be text of at most ${MAX_SYSTEM_PROMPT_BYTES} bytes` : null
}

const variableNameRule: Rule = value => typeof value === 'string' && VARIABLE_NAME.test(value) ? null : 'must be the name of a variable'

const executable: KeySpec<readonly string[]> = {
  type: 'text or list of texts',
  meaning: 'The program to run: a name on PATH or a path, never split at spaces. '
    + 'A list is a program with its first arguments, for example [node, /opt/cli.mjs].',
  bad: 'error: must be text that is not blank, or a list of such texts; not found: error before any task starts',
  fallback: () => ['openclaude'],
  decode(value, place) {
    if (!Array.isArray(value)) {
      const wrong = filledText(value)
      if (wrong === null && typeof value === 'string') return [value]
      place.report(`must be text that is not blank, or a list of such texts; got ${observed(value)}`)
      return null
    }
    if (value.length > 0) return decodeTextList(value, place, filledText, 'each entry')
    place.report('must name a program; got an empty list', { suggestion: 'openclaude' })
    return null
  },
}

const env: KeySpec<Readonly<Record<string, string>>> = {
  type: 'object of texts',
  meaning: 'Variables added to the environment of the child. Values are replaced in all that is shown or reported; only the raw output of the child (stdout.ndjson, stderr.log, readable by the owner alone) holds what it printed.',
  bad: 'error: names must be names of variables, values must be text',
  fallback: () => ({}),
  decode(value, place) {
    if (!isRecord(value)) {
      // What was written may be a secret, so only its type is named.
      place.report(`must be an object of names and texts; got ${Array.isArray(value) ? 'a list' : typeof value}`)
      return null
    }
    const variables: Record<string, string> = {}
    let good = true
    for (const [name, item] of Object.entries(value)) {
      const wrong = wrongVariable(name, item)
      if (wrong === null) {
        variables[name] = String(item)
        continue
      }
      good = false
      place.report(`: ${name} ${wrong}`, { path: memberPath(place.path, name) })
    }
    return good ? variables : null
  },
}

function wrongVariable(name: string, value: unknown): string | null {
  if (!VARIABLE_NAME.test(name)) return 'is no name of a variable (letters, digits and "_", no digit first)'
  if (typeof value === 'string') return hasNul(value) ? NUL_REFUSED : null
  return `must be text, so write it in quotes; got a ${value === null ? 'null' : typeof value}`
}

export const CHILD_KEYS = {
  executable,
  workdir: textKey({
    fallback: '.', rule: filledText,
    meaning: 'The project to work in. Relative to the folder of the shell or of the session.',
    note: 'missing or no directory: error before any task starts',
  }),
  provider: nameKey({ fallback: '', meaning: 'Provider id, passed on as it is. Empty = what OpenClaude is set to, and no flag.' }),
  model: nameKey({ fallback: '', meaning: 'Model name, passed on as it is. Empty = what OpenClaude is set to, and no flag.' }),
  maxTurns: wholeKey({ least: 1, fallback: 50, meaning: 'Turns of the model per launch.' }),
  permissionMode: choiceKey(
    PERMISSION_MODES, { fallback: '', meaning: 'Permission mode of the child. Empty = unattended: it acts without asking.' },
  ),
  extraArgs: extraArgsKey,
  env,
  envPass: textListKey({
    fallback: [], rule: variableNameRule, each: 'each entry',
    meaning: 'Names of variables passed on from the caller where the environment is an allow-list (DSH).',
  }),
  addDirs: textListKey({
    fallback: [], rule: filledText, each: 'each entry',
    meaning: 'More folders the child may use. Relative to workdir.',
    note: 'missing folder: error before any task starts',
  }),
  appendSystemPrompt: textKey({ fallback: '', rule: systemPromptRule, meaning: 'Text added to the system prompt of every child.' }),
  noSessionPersistence: flagKey({
    fallback: false,
    meaning: 'The child keeps no session on disk; then a stalled launch can\'t be resumed.',
    note: 'with maxStalledRestarts above 0: error',
  }),
  keepSessions: flagKey({ fallback: false, meaning: 'Keep the session files of accepted attempts when a run ends.' }),
  heartbeat: textKey({
    fallback: '30s', rule: heartbeatRule,
    meaning: 'Interval of the child\'s sign of life. Empty = none, and the event-loop clock is off.',
    note: 'at or above idleTimeoutMs: warning',
  }),
} satisfies Record<string, KeySpec<unknown>>
