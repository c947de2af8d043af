/**
 * The bytes of one journal line (SEMANTICS 6): its header, its hash, its encoding and its strict decoding.
 * Does not own files, durability or what entries mean. `docs/journal-format.md` describes the same format for readers.
 */
import { hash } from 'node:crypto'
import { JOURNAL_VERSION } from '../../core/entry-types.ts'
import type { Entry, EntryKind } from '../../core/entry-types.ts'
import type { ExactFields } from '../secrets/redact.ts'

/** Written in front of every entry. Its shape stays the same in all later versions, so that any version can tell what it sees. */
export interface EntryHeader {
  readonly v: number
  /** Gapless from 1 within one journal. */
  readonly seq: number
  /** Wall clock, ISO 8601. May go back; never compared. */
  readonly at: string
  /** Milliseconds since this engine opened the journal; comparable within one `engine` only. */
  readonly mono: number
  /** Engine epoch, +1 at each start. */
  readonly engine: number
  /** First 16 hex digits of the sha256 over the bytes of the previous line, its newline excluded. */
  readonly prev: string
}

export interface JournalRecord {
  readonly header: EntryHeader
  readonly entry: Entry
  /** Byte offset of the line in its file. */
  readonly offset: number
}

/** `prev` of the first line. */
export const GENESIS_HASH = '0000000000000000'

type Tag = 'string' | 'number' | 'boolean' | 'list' | 'object' | 'string?' | 'object?'
type RequiredKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? never : K }[keyof T]
type FieldTags<K extends EntryKind> = K extends 'warning'
  ? { readonly code: Tag, readonly message: Tag }
  : { readonly [F in Exclude<RequiredKeys<Extract<Entry, { kind: K }>>, 'kind'>]: Tag }

const attempt = { task: 'string', attempt: 'number' } as const
const launch = { ...attempt, launch: 'number' } as const

/** The fields every entry of a kind carries, with their JSON type; `?` = may be null. Optional fields are not listed. */
export const ENTRY_FIELDS: { readonly [K in EntryKind]: FieldTags<K> } = {
  'run-created': { run: 'string', tasks: 'number', graphSha256: 'string' },
  'run-reopened': { by: 'string', reason: 'string', tasks: 'list' },
  'engine-started': { pid: 'number', host: 'string', version: 'string' },
  'engine-suspended': { gapMs: 'number', why: 'string' },
  'engine-stopping': { reason: 'string' },
  'engine-stopped': { reason: 'string' },
  'run-finished': { result: 'object' },
  'task-blocked': { task: 'string', causes: 'list' },
  'task-unblocked': { task: 'string' },
  'task-split': { task: 'string', children: 'list' },
  'task-cancelled': { task: 'string', by: 'string' },
  'task-failed': { task: 'string', reason: 'string' },
  'task-accepted': { ...attempt, evidence: 'list', commit: 'string?' },
  'attempt-started': { ...attempt, attemptKind: 'string', freshTree: 'boolean' },
  'attempt-ended': { ...attempt, outcome: 'object', counted: 'boolean' },
  'attempt-suspended': attempt,
  'workspace-intended': attempt,
  'workspace-ready': { ...attempt, path: 'string', workspace: 'string', tree: 'string' },
  'launch-intended': { ...launch, mode: 'string', reason: 'string', sessionId: 'string', marker: 'string', dir: 'string' },
  'launch-live': { ...launch, keeper: 'object?', child: 'object?' },
  'launch-adopted': { ...launch, child: 'object?' },
  'launch-first-record': launch,
  'launch-ended': { ...launch, end: 'object', tree: 'string?' },
  'launch-swept': { ...launch, result: 'string', ended: 'number' },
  'launch-spawn-failed': { ...launch, failure: 'object' },
  'check-evidence': { ...attempt, evidence: 'object' },
  'verdict': { ...attempt, verdict: 'object' },
  'advice': { ...attempt, round: 'number', result: 'string', reason: 'string', askFile: 'string?', answerFile: 'string?' },
  'decision': { ...attempt, round: 'number', by: 'string', decision: 'object' },
  'patch-intended': { ...attempt, round: 'number', before: 'string', after: 'string?', file: 'string' },
  'patch-applied': { ...attempt, round: 'number', result: 'string', reason: 'string', tree: 'string' },
  'land-intended': { ...attempt, from: 'string?', to: 'string?' },
  'landed': { ...attempt, commit: 'string?' },
  'land-refused': { ...attempt, reason: 'string', message: 'string' },
  'pin-advanced': { task: 'string', checks: 'list' },
  'handoff-opened': { ...attempt, handoff: 'string', reason: 'string' },
  'handoff-answered': { task: 'string', handoff: 'string', answer: 'string', by: 'string', note: 'string' },
  'control-received': { id: 'string', command: 'string', detail: 'string' },
  'warning': { code: 'string', message: 'string' },
}

/**
 * Fields whose strings the fold and the recovery compare or open: ids, fingerprints, paths, words of closed unions.
 * Redaction leaves them as they are, or a run whose environment holds a common word could not be replayed.
 */
export const EXACT_FIELDS: ExactFields = {
  always: new Set([
    'kind', 'run', 'task', 'tasks', 'id', 'handoff', 'parent', 'dependencies', 'causes', 'evidence', 'key', 'check', 'name', 'graphSha256',
    'sessionId', 'marker', 'bootId', 'pidNs', 'startTicks', 'tree', 'commit', 'before', 'after', 'from', 'to',
    'dir', 'path', 'paths', 'mayEdit', 'file', 'logPath', 'askFile', 'answerFile',
    'mode', 'workspace', 'attemptKind', 'role', 'grade', 'clock', 'subtype', 'stopReason', 'signal', 'assignee', 'model',
  ]),
  words: new Set(['reason', 'result', 'why', 'by', 'answer', 'code', 'command']),
}

const FIELD_CHECKS: ReadonlyMap<string, readonly (readonly [string, Tag])[]> = new Map(
  Object.entries(ENTRY_FIELDS).map(([kind, fields]) => [kind, Object.entries(fields) as [string, Tag][]]),
)

/** @param line bytes of one line without its newline. */
export function hashLine(line: Uint8Array): string {
  return hash('sha256', line, 'hex').slice(0, 16)
}

/** One line without its newline. Control characters inside strings are escaped by JSON (F19). */
export function encodeLine(header: EntryHeader, entry: Entry): string {
  const { v, seq, at, mono, engine, prev } = header
  return JSON.stringify({ v, seq, at, mono, engine, prev, ...entry })
}

export type DecodedLine =
  | { readonly kind: 'record', readonly header: EntryHeader, readonly entry: Entry }
  /** Written by a later version. `entry` is null when its kind or fields are not known here. */
  | { readonly kind: 'newer', readonly header: EntryHeader, readonly entry: Entry | null }
  /** `seq` is the number the line claims, null when even that can't be read. */
  | { readonly kind: 'damaged', readonly why: string, readonly seq: number | null }

/** Decodes one line strictly: header fields, a known kind, and the fields of that kind. Whether it fits its neighbours is the reader's business. */
export function decodeLine(text: string): DecodedLine {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'damaged', why: 'it is not JSON', seq: null }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'damaged', why: 'it is no JSON object', seq: null }
  const { v, seq, at, mono, engine, prev, ...entry } = value as Record<string, unknown>
  if (!isCount(seq)) return { kind: 'damaged', why: 'its seq is no positive whole number', seq: null }
  if (!isCount(v)) return { kind: 'damaged', why: 'its v is no positive whole number', seq }
  if (typeof at !== 'string' || typeof mono !== 'number' || !isCount(engine)) return { kind: 'damaged', why: 'at, mono or engine is missing or wrong', seq }
  if (typeof prev !== 'string' || !/^[0-9a-f]{16}$/.test(prev)) return { kind: 'damaged', why: 'its prev is not 16 hex digits', seq }
  const header: EntryHeader = { v, seq, at, mono, engine, prev }
  const fault = entryFault(entry)
  if (v > JOURNAL_VERSION) return { kind: 'newer', header, entry: fault === null ? asEntry(entry) : null }
  if (fault !== null) return { kind: 'damaged', why: fault, seq }
  return { kind: 'record', header, entry: asEntry(entry) }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** Why this is no entry of the current version, or null. The writer asks too: what could not be read back is never written. */
export function entryFault(entry: object): string | null {
  const fieldsOf = entry as Readonly<Record<string, unknown>>
  const { kind } = fieldsOf
  if (typeof kind !== 'string') return 'its kind is missing'
  const fields = FIELD_CHECKS.get(kind)
  if (fields === undefined) return `its kind ${JSON.stringify(kind.slice(0, 40))} is unknown`
  for (const [name, tag] of fields) {
    if (!hasTag(fieldsOf[name], tag)) return `field ${name} of its ${kind} is missing or no ${tag}`
  }
  return null
}

function hasTag(value: unknown, tag: Tag): boolean {
  switch (tag) {
    case 'number':
      return Number.isFinite(value)
    case 'string':
    case 'boolean':
      return typeof value === tag
    case 'list':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'string?':
      return value === null || typeof value === 'string'
    case 'object?':
      return typeof value === 'object' && !Array.isArray(value)
  }
}

function asEntry(entry: Readonly<Record<string, unknown>>): Entry {
  return entry as unknown as Entry
}
