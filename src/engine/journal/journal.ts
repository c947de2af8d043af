/**
 * Opens journals: a new one, one that an engine left, or one in memory. Owns the repair of a torn tail (F2) and the engine epoch.
 * The caller holds the repository lock: two writers of one journal are not detected here.
 */
import { open, truncate } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Entry } from '../../core/entry-types.ts'
import type { OpenClaudeError } from '../../errors.ts'
import { parseCrashPoint } from './crash-point.ts'
import { syncFolder, writeNewFile } from '../state/durable-file.ts'
import { GENESIS_HASH } from './format.ts'
import type { JournalRecord } from './format.ts'
import { readJournal } from './reader.ts'
import type { TornTail } from './reader.ts'
import { memorySink, openFileSink } from './sink.ts'
import { JournalWriter } from './writer.ts'
import type { Journal, JournalClock } from './writer.ts'
import type { Redactor } from '../secrets/redact.ts'

export type WarningEntry = Extract<Entry, { readonly kind: 'warning' }>

export interface JournalOptions {
  readonly redactor: Redactor
  readonly onPoisoned: (error: OpenClaudeError) => void
  /** The epoch is at least this; default one more than the journal's last. */
  readonly engine?: number
  readonly clock?: JournalClock
}

export interface OpenedJournal {
  readonly journal: Journal
  /** Entries that were there. */
  readonly replayed: number
  /** To be appended by the caller once its engine has announced itself. */
  readonly warnings: readonly WarningEntry[]
}

/** Creates `path` (mode 0600) and makes its name durable. Rejects with EEXIST when it exists: journals are never reused. */
export async function createJournal(path: string, options: JournalOptions): Promise<Journal> {
  const writer = writerOptions(path, { seq: 0, hash: GENESIS_HASH, engine: options.engine ?? 1 }, options)
  const sink = openFileSink(path, true)
  await syncFolder(dirname(path))
  return new JournalWriter(sink, writer)
}

/**
 * Reads the journal at `path`, sets a torn tail aside as `journal.torn-<n>` and opens it for appending under a new epoch.
 * @param onRecord called once per entry, in order, before this resolves.
 * @throws as `readJournal`; then nothing was changed.
 */
export async function openJournal(path: string, onRecord: (record: JournalRecord) => void, options: JournalOptions): Promise<OpenedJournal> {
  const tail = await readJournal(path, onRecord)
  const warnings = tail.torn === null ? [] : [await setTornTailAside(path, tail.torn)]
  const sink = openFileSink(path, false)
  const engine = Math.max(options.engine ?? 1, tail.engine + 1)
  const journal = new JournalWriter(sink, writerOptions(path, { seq: tail.seq, hash: tail.hash, engine }, options))
  return { journal, replayed: tail.seq, warnings }
}

export interface MemoryJournal {
  readonly journal: Journal
  /** The same bytes that a file would hold. */
  readonly bytes: () => Buffer
}

/** For `persistence: false`: the same lines, chain and redaction, nothing durable. */
export function createMemoryJournal(options: JournalOptions): MemoryJournal {
  const sink = memorySink()
  const journal = new JournalWriter(sink, writerOptions('the journal in memory', { seq: 0, hash: GENESIS_HASH, engine: options.engine ?? 1 }, options))
  return { journal, bytes: sink.bytes }
}

function writerOptions(subject: string, start: { readonly seq: number, readonly hash: string, readonly engine: number }, options: JournalOptions):
ConstructorParameters<typeof JournalWriter>[1] {
  const { redactor, onPoisoned } = options
  return { subject, ...start, redactor, onPoisoned, clock: options.clock ?? systemClock(), crashAt: parseCrashPoint(process.env['OC_CRASH_AT']) }
}

function systemClock(): JournalClock {
  const start = performance.now()
  return { at: () => new Date().toISOString(), mono: () => performance.now() - start }
}

/** The copy is durable before the cut: a crash in between only sets the same bytes aside twice. */
async function setTornTailAside(path: string, torn: TornTail): Promise<WarningEntry> {
  const bytes = await readRange(path, torn)
  const folder = dirname(path)
  const stem = basename(path).replace(/\.ndjson$/, '')
  let aside = ''
  for (let n = 1; aside === ''; n += 1) {
    const name = `${stem}.torn-${n}`
    if (await createUnlessPresent(join(folder, name), bytes)) aside = name
  }
  await syncFolder(folder)
  await truncate(path, torn.offset)
  const message = `The last write to the journal was cut short: ${torn.bytes} bytes at byte ${torn.offset} were set aside in ${aside}; everything before them is intact.`
  return { kind: 'warning', code: 'journal-torn', message }
}

async function readRange(path: string, { offset, bytes }: TornTail): Promise<Buffer> {
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(bytes)
    const { bytesRead } = await handle.read(buffer, 0, bytes, offset)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function createUnlessPresent(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeNewFile(path, bytes)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
