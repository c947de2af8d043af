/**
 * Repairs a damaged journal for `doctor --salvage` (F3): what can be trusted is kept, in its order; what can't is dropped and said so.
 * A person's decision, never taken by an engine: a hole may hide a launch or an acceptance. The original stays beside the repaired file.
 */
import { link, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { JOURNAL_VERSION } from '../../core/entry-types.ts'
import type { Entry } from '../../core/entry-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { syncFolder } from '../state/durable-file.ts'
import { decodeLine, encodeLine, GENESIS_HASH, hashLine } from './format.ts'
import type { EntryHeader } from './format.ts'
import { scanLines } from './line-scan.ts'

export interface DroppedLine {
  readonly offset: number
  /** The number it claimed; null when that could not be read. */
  readonly seq: number | null
  readonly why: string
}

export interface Salvage {
  /** Where the original is now. */
  readonly original: string
  readonly kept: number
  readonly dropped: readonly DroppedLine[]
  /** Numbers for which no line was left. */
  readonly missing: readonly number[]
}

interface IndexedLine {
  readonly seq: number
  readonly offset: number
  readonly bytes: number
  readonly hash: string
  readonly prev: string
}

/**
 * Replaces the journal at `path` by a repaired one; the caller holds the repository lock. Lines are put back into their order, repeats and
 * untrusted lines are left out, the rest is numbered and chained anew, and a `warning` entry stands at every hole.
 * @throws OC_JOURNAL_VERSION for a journal of a newer version: it is not ours to repair.
 */
export async function salvageJournal(path: string): Promise<Salvage> {
  const dropped: DroppedLine[] = []
  const lines = await indexLines(path, dropped)
  const { chosen, lastSeq } = chooseLines(lines, dropped)
  const missing = Array.from({ length: lastSeq }, (_, index) => index + 1).filter(seq => !chosen.has(seq))
  const copy = join(dirname(path), `.${basename(path)}.salvaged`)
  await writeRepaired(path, copy, [...chosen.values()])
  const original = await keepOriginal(path)
  await rename(copy, path)
  await syncFolder(dirname(path))
  return { original, kept: chosen.size, dropped: dropped.sort((a, b) => a.offset - b.offset), missing }
}

async function indexLines(path: string, dropped: DroppedLine[]): Promise<readonly IndexedLine[]> {
  const lines: IndexedLine[] = []
  const { end, rest } = await scanLines(path, (line, offset) => {
    const decoded = line === null ? { kind: 'damaged' as const, why: 'it is far longer than any entry', seq: null } : decodeLine(line.toString('utf8'))
    if (decoded.kind === 'newer') {
      throw new OpenClaudeError('OC_JOURNAL_VERSION', `${path}: version ${decoded.header.v} can only be repaired by the dsh-openclaude that wrote it.`, { subject: path })
    }
    if (decoded.kind === 'damaged') dropped.push({ offset, seq: decoded.seq, why: decoded.why })
    else if (line !== null) lines.push({ seq: decoded.header.seq, offset, bytes: line.length, hash: hashLine(line), prev: decoded.header.prev })
  })
  if (rest > 0) dropped.push({ offset: end, seq: null, why: 'it was cut short' })
  return lines
}

/**
 * A line is trusted unless its successor, which is itself vouched for, recorded another hash for it: then its bytes were changed
 * although they still decode. Of repeats the vouched one stays, else the first.
 */
function chooseLines(lines: readonly IndexedLine[], dropped: DroppedLine[]): { readonly chosen: ReadonlyMap<number, IndexedLine>, readonly lastSeq: number } {
  const bySeq = Map.groupBy([...lines].sort((a, b) => a.seq - b.seq || a.offset - b.offset), line => line.seq)
  const lastSeq = lines.reduce((last, line) => Math.max(last, line.seq), 0)
  const chosen: { readonly line: IndexedLine, readonly sound: boolean }[] = []
  for (const seq of [...bySeq.keys()].reverse()) {
    const candidates = bySeq.get(seq) ?? []
    const last = chosen.at(-1)
    const successor = last?.line.seq === seq + 1 ? last : undefined
    const vouched = candidates.find(line => line.hash === successor?.line.prev)
    const refuted = vouched === undefined && successor?.sound === true
    const kept = vouched ?? (refuted ? undefined : candidates[0])
    for (const line of candidates) {
      if (line !== kept) dropped.push({ offset: line.offset, seq, why: refuted ? 'its bytes do not have the hash that the next line recorded' : 'its number was used twice' })
    }
    // The last line of all has no witness; it is taken as sound, so that a changed line before it is found.
    if (kept !== undefined) chosen.push({ line: kept, sound: vouched !== undefined || seq === lastSeq })
  }
  return { chosen: new Map(chosen.reverse().map(({ line }) => [line.seq, line])), lastSeq }
}

async function writeRepaired(path: string, copy: string, lines: readonly IndexedLine[]): Promise<void> {
  const source = await open(path, 'r')
  const target = await open(copy, 'w', 0o600)
  try {
    let seq = 0
    let prev = GENESIS_HASH
    let expected = 1
    const put = async (header: EntryHeader, entry: Entry): Promise<void> => {
      seq += 1
      const line = Buffer.from(`${encodeLine({ ...header, v: JOURNAL_VERSION, seq, prev }, entry)}\n`)
      prev = hashLine(line.subarray(0, -1))
      await target.writeFile(line)
    }
    for (const { seq: was, offset, bytes } of lines) {
      const buffer = Buffer.alloc(bytes)
      await source.read(buffer, 0, bytes, offset)
      const decoded = decodeLine(buffer.toString('utf8'))
      if (decoded.kind !== 'record') throw new OpenClaudeError('OC_INTERNAL', `${path}: byte ${offset} changed while it was being repaired`)
      if (was > expected) await put(decoded.header, holeWarning(expected, was - 1))
      await put(decoded.header, decoded.entry)
      expected = was + 1
    }
    await target.sync()
  } finally {
    await source.close()
    await target.close()
  }
}

function holeWarning(from: number, to: number): Entry {
  const what = from === to ? `Entry ${from} was` : `Entries ${from} to ${to} were`
  return { kind: 'warning', code: 'journal-salvaged', message: `${what} damaged and left out when this journal was repaired.` }
}

/** A second name for the damaged bytes, before the repaired file takes the first. */
async function keepOriginal(path: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const name = join(dirname(path), `${basename(path).replace(/\.ndjson$/, '')}.damaged-${n}`)
    try {
      await link(path, name)
      return name
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') continue
      await unlink(join(dirname(path), `.${basename(path)}.salvaged`))
      throw error
    }
  }
}
