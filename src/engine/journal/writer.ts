/**
 * Appends entries and decides when they are durable (SEMANTICS 6): one write per batch, a sync where a kind demands it,
 * else a lazy one. Owns seq, the hash chain, redaction and poisoning. Does not own what entries mean, nor where bytes go.
 */
import { JOURNAL_VERSION, SYNCED_ENTRIES } from '../../core/entry-types.ts'
import type { Entry } from '../../core/entry-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { crashNow } from './crash-point.ts'
import type { CrashPoint } from './crash-point.ts'
import { encodeLine, entryFault, EXACT_FIELDS, hashLine } from './format.ts'
import type { JournalSink } from './sink.ts'
import type { Redactor } from '../secrets/redact.ts'

export interface Journal {
  /** Epoch of this engine. */
  readonly engine: number
  /** Number of the last line that was written. */
  readonly seq: number
  /** Why every further append rejects; null while all is well. */
  readonly poisoned: OpenClaudeError | null
  /**
   * Writes the entries at once, in one write, and resolves when they, and all before them, are as durable as their kinds demand.
   * Rejects with OC_JOURNAL_WRITE; from then on for ever (F6), and no effect of the batch may be performed.
   */
  readonly append: (entries: readonly Entry[]) => Promise<void>
  /** Resolves when everything written so far is durable. */
  readonly flush: () => Promise<void>
  /** Flushes, then closes. Idempotent. Rejects when the last flush fails, but closes all the same. */
  readonly close: () => Promise<void>
}

export interface JournalClock {
  /** Wall clock, ISO 8601. */
  readonly at: () => string
  /** Milliseconds since the engine started. */
  readonly mono: () => number
}

export interface WriterOptions {
  /** Names the journal in errors. */
  readonly subject: string
  readonly engine: number
  /** Number and hash of the last line that is already there. */
  readonly seq: number
  readonly hash: string
  readonly redactor: Redactor
  readonly clock: JournalClock
  readonly crashAt: CrashPoint | null
  /** Called once when the journal is poisoned, also by a lazy sync that nobody waits for. */
  readonly onPoisoned: (error: OpenClaudeError) => void
}

/** Entries that need no sync of their own are durable this much later at most, if no other sync takes them along. */
const LAZY_SYNC_MS = 200

export class JournalWriter implements Journal {
  readonly #sink: JournalSink
  readonly #options: WriterOptions
  #seq: number
  #hash: string
  #writes = 0
  #syncedTo: number
  #poison: OpenClaudeError | null = null
  #lazy: NodeJS.Timeout | null = null
  /** The sync that is under way, and the one that will follow it and cover what was written meanwhile. */
  #running: Promise<void> | null = null
  #queued: Promise<void> | null = null
  /** Settles when everything appended so far is as durable as it must be: appends resolve in their order. */
  #acknowledged: Promise<void> = Promise.resolve()
  #closing: Promise<void> | null = null

  constructor(sink: JournalSink, options: WriterOptions) {
    this.#sink = sink
    this.#options = options
    this.#seq = options.seq
    this.#hash = options.hash
    this.#syncedTo = options.seq
  }

  get engine(): number {
    return this.#options.engine
  }

  get seq(): number {
    return this.#seq
  }

  get poisoned(): OpenClaudeError | null {
    return this.#poison
  }

  append(entries: readonly Entry[]): Promise<void> {
    if (this.#poison !== null) return Promise.reject(this.#poison)
    if (this.#closing !== null) return Promise.reject(new OpenClaudeError('OC_INTERNAL', `${this.#options.subject}: an entry was appended after the journal was closed`))
    if (entries.length === 0) return this.#acknowledged
    const fault = entries.map(entryFault).find(found => found !== null)
    if (fault !== undefined) return Promise.reject(new OpenClaudeError('OC_INTERNAL', `${this.#options.subject}: an entry that could not be read back was refused: ${fault}`))
    try {
      this.#write(entries)
    } catch (error) {
      return Promise.reject(error)
    }
    if (entries.some(entry => SYNCED_ENTRIES.has(entry.kind))) this.#acknowledged = this.#sync()
    else this.#lazy ??= setTimeout(() => void this.#sync().catch(keptInPoison), LAZY_SYNC_MS).unref()
    return this.#acknowledged
  }

  flush(): Promise<void> {
    if (this.#poison !== null) return Promise.reject(this.#poison)
    return this.#syncedTo === this.#seq ? this.#acknowledged : this.#sync()
  }

  close(): Promise<void> {
    this.#closing ??= this.flush().finally(async () => {
      clearTimeout(this.#lazy ?? undefined)
      await this.#running?.catch(keptInPoison)
      this.#sink.close()
    })
    return this.#closing
  }

  #write(entries: readonly Entry[]): void {
    const { engine, clock, crashAt } = this.#options
    const at = clock.at()
    const mono = Math.round(clock.mono() * 10) / 10
    const lines: Buffer[] = []
    let seq = this.#seq
    let prev = this.#hash
    for (const entry of entries) {
      seq += 1
      const line = Buffer.from(`${this.#encode({ v: JOURNAL_VERSION, seq, at, mono, engine, prev }, entry)}\n`)
      prev = hashLine(line.subarray(0, -1))
      lines.push(line)
    }
    const batch = lines.length === 1 && lines[0] !== undefined ? lines[0] : Buffer.concat(lines)
    this.#writes += 1
    const crash = crashAt?.write === this.#writes ? crashAt.moment : null
    if (crash === 'before') crashNow()
    const before = this.#sink.size
    try {
      this.#sink.write(crash === 'mid' ? batch.subarray(0, Math.ceil(batch.length / 2)) : batch)
    } catch (error) {
      throw this.#spoil(`${entries.length} entries could not be written`, error, this.#cutBack(before))
    }
    if (crash !== null) crashNow()
    this.#seq = seq
    this.#hash = prev
  }

  /** Looks for secrets in the finished line, since that is one scan; only a hit pays for a walk through the entry. */
  #encode(header: Parameters<typeof encodeLine>[0], entry: Entry): string {
    const line = encodeLine(header, entry)
    return this.#options.redactor.finds(line) ? encodeLine(header, this.#options.redactor.redactDeep(entry, EXACT_FIELDS)) : line
  }

  /** Covers everything written before the call. Never a second try after a failure: the kernel may report success for pages it has dropped. */
  #sync(): Promise<void> {
    if (this.#poison !== null) return Promise.reject(this.#poison)
    if (this.#running === null) return this.#startSync()
    this.#queued ??= this.#running.then(() => {
      this.#queued = null
      return this.#startSync()
    })
    this.#queued.catch(keptInPoison)
    return this.#queued
  }

  #startSync(): Promise<void> {
    const covered = this.#seq
    if (this.#lazy !== null) clearTimeout(this.#lazy)
    this.#lazy = null
    const sync = this.#sink.sync().then(
      () => {
        this.#running = null
        this.#syncedTo = covered
      },
      (error: unknown) => {
        this.#running = null
        throw this.#spoil(`entries ${this.#syncedTo + 1} to ${this.#seq} could not be made durable`, error, '')
      },
    )
    sync.catch(keptInPoison)
    this.#running = sync
    return sync
  }

  /** A full disk leaves a torn tail; cutting it off works on the full disk (F5). */
  #cutBack(size: number): string {
    try {
      this.#sink.cutBack(size)
      return ' The half-written tail was cut off.'
    } catch (error) {
      return ` The half-written tail could not be cut off either (${reasonOf(error)}); the next start sets it aside.`
    }
  }

  #spoil(what: string, cause: unknown, after: string): OpenClaudeError {
    if (this.#poison !== null) return this.#poison
    const { subject, onPoisoned } = this.#options
    const fix = 'Free or repair the disk, then run `dsh-openclaude resume`.'
    const message = `${subject}: ${what} (${reasonOf(cause)}).${after} Nothing that depends on them took effect. ${fix}`
    this.#poison = new OpenClaudeError('OC_JOURNAL_WRITE', message, { subject, fix, cause })
    onPoisoned(this.#poison)
    return this.#poison
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The failure is `poisoned` by now and meets every later append; a promise nobody waits for must not end the process. */
function keptInPoison(): void {}
