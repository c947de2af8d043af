/**
 * Reads a journal from its first byte to its last and proves the chain on the way (F3, F4): every line decodes, `seq` has no gap,
 * `prev` is the hash of the line before. Changes nothing; the writer repairs a torn tail, `salvage.ts` a damaged middle.
 */
import { JOURNAL_VERSION } from '../../core/entry-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { decodeLine, GENESIS_HASH, hashLine } from './format.ts'
import type { EntryHeader, JournalRecord } from './format.ts'
import { scanLines } from './line-scan.ts'

export interface TornTail {
  readonly offset: number
  readonly bytes: number
}

export interface JournalTail {
  /** Number of the last line; 0 for an empty journal. */
  readonly seq: number
  /** Engine epoch of the last line; 0 for an empty journal. */
  readonly engine: number
  readonly hash: string
  /** Bytes up to and including the last newline. */
  readonly bytes: number
  /** Bytes behind the last newline: a write that a crash cut short, or one a live engine is about to finish. */
  readonly torn: TornTail | null
  /** The newest version seen. */
  readonly version: number
  /** Lines of a newer version whose meaning is unknown here; they were skipped. */
  readonly skipped: number
}

export interface ReadOptions {
  /** Read what can be understood of a journal from a newer version (F33). For views only: such a journal is never continued. */
  readonly allowNewer?: boolean
}

/**
 * @param onRecord called once per entry, in order; what it throws ends the reading.
 * @throws OC_JOURNAL_CORRUPT naming byte offset and seq; OC_JOURNAL_VERSION; OC_RUN_STATE when there is no journal. A torn tail is no error.
 */
export async function readJournal(path: string, onRecord: (record: JournalRecord) => void, options: ReadOptions = {}): Promise<JournalTail> {
  let seq = 0
  let engine = 0
  let hash = GENESIS_HASH
  let version = JOURNAL_VERSION
  let skipped = 0
  let previousOffset = 0

  const proveOrder = (header: EntryHeader, offset: number): void => {
    if (header.seq !== seq + 1) throw corrupt(path, offset, seq + 1, orderFault(header.seq, seq + 1))
    if (header.prev !== hash) {
      throw corrupt(path, previousOffset, seq, seq === 0
        ? 'the first line names a predecessor'
        : `its bytes do not have the hash that the next line, at byte ${offset}, recorded for them`)
    }
    if (header.engine < engine) throw corrupt(path, offset, header.seq, `its engine epoch ${header.engine} is older than ${engine} before it`)
  }

  const { end, rest } = await scanLines(path, (line, offset) => {
    if (line === null) throw corrupt(path, offset, seq + 1, 'it is far longer than any entry')
    const decoded = decodeLine(line.toString('utf8'))
    if (decoded.kind === 'damaged') throw corrupt(path, offset, seq + 1, decoded.why)
    if (decoded.kind === 'newer') {
      if (options.allowNewer !== true) throw newer(path, decoded.header.v)
      version = Math.max(version, decoded.header.v)
      if (decoded.entry === null) skipped += 1
    }
    proveOrder(decoded.header, offset)
    seq += 1
    engine = decoded.header.engine
    hash = hashLine(line)
    previousOffset = offset
    if (decoded.entry !== null) onRecord({ header: decoded.header, entry: decoded.entry, offset })
  }).catch((error: unknown) => {
    throw isAbsent(error) ? withoutJournal(path, error) : error
  })
  return { seq, engine, hash, bytes: end, torn: rest === 0 ? null : { offset: end, bytes: rest }, version, skipped }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function withoutJournal(path: string, cause: unknown): OpenClaudeError {
  const fix = 'Start a new run; this one had not begun.'
  return new OpenClaudeError('OC_RUN_STATE', `${path} does not exist: the engine of this run died before its first entry. ${fix}`, { subject: path, fix, cause })
}

function orderFault(seen: number, expected: number): string {
  if (seen > expected) return `it carries seq ${seen}: ${seen - expected} line(s) before it are missing`
  return `it carries seq ${seen}, which was seen before: lines were repeated or swapped`
}

function corrupt(path: string, offset: number, seq: number, why: string): OpenClaudeError {
  const fix = 'Run `dsh-openclaude doctor --salvage`: it writes a repaired journal and keeps the original.'
  return new OpenClaudeError('OC_JOURNAL_CORRUPT', `${path}: the line at byte ${offset} (seq ${seq}) is damaged: ${why}. ${fix}`, { subject: path, fix })
}

function newer(path: string, version: number): OpenClaudeError {
  const fix = 'Continue this run with the newer dsh-openclaude; `status` and `report` of this version still read it.'
  return new OpenClaudeError('OC_JOURNAL_VERSION', `${path}: written in version ${version} of the journal format; this version writes ${JOURNAL_VERSION}. ${fix}`, { subject: path, fix })
}
