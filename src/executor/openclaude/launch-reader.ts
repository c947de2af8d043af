/**
 * Reads the output of one launch: bytes to lines to records, into the facts of the launch and, while it lives, into its watchdog.
 * Owns the order of reading and the stderr tail. Knows no timer, sends no signal, writes nothing.
 */
import type { EndReason, LaunchEnd } from '../../core/attempt-types.ts'
import { STDERR_TAIL_CHARS } from '../attempt-outcome.ts'
import type { ChildRecord, FramedLine } from '../stream/child-record.ts'
import { addRecord, envelopeFacts, newEnvelope, type Envelope } from '../stream/envelope.ts'
import type { LaunchChunk, LaunchExit } from '../keeper/launch-types.ts'
import { decodeRecord, decodeStderrLine } from '../stream/liveness.ts'
import { LineFramer } from '../stream/output-lines.ts'
import type { Totals } from '../stream/usage-totals.ts'

export interface ReaderOptions {
  readonly maxLineBytes: number
  /** What earlier launches of the same session used. */
  readonly earlier: Totals
  readonly redact: (text: string) => string
  /** Called for every record in order, heartbeats included, noise not. */
  readonly onRecord: (record: ChildRecord) => void
}

/** Longer stderr lines are noise to us; only heartbeats are looked for there. */
const STDERR_LINE_BYTES = 65_536
/** Room before the tail, so that a secret cut by its start is still recognised. */
const TAIL_SLACK = 4096

export class LaunchReader {
  readonly #options: ReaderOptions
  readonly #stdout: LineFramer
  readonly #stderr = new LineFramer({ maxLineBytes: STDERR_LINE_BYTES, headBytes: 1024 })
  readonly #envelope: Envelope
  #stderrTail = Buffer.alloc(0)
  /** Facts of the end as they were before our first signal: what a child writes because of it is not its own word. */
  #held: ReturnType<typeof envelopeFacts> | null = null
  #holdAt = Number.POSITIVE_INFINITY
  #stdoutBytes = 0
  /** Records that are progress: all but heartbeats. */
  progress = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#stdout = new LineFramer({ maxLineBytes: options.maxLineBytes, recordsOnly: true })
    this.#envelope = newEnvelope(options.earlier)
  }

  readonly take = ({ stream, bytes }: LaunchChunk): void => {
    if (stream === 'stdout') {
      const before = Math.max(0, Math.min(bytes.length, this.#holdAt - this.#stdoutBytes))
      this.#takeStdout(bytes.subarray(0, before))
      if (this.#stdoutBytes >= this.#holdAt) this.hold()
      this.#takeStdout(bytes.subarray(before))
      return
    }
    this.#lines(this.#stderr.push(bytes), decodeStderrLine)
    this.#stderrTail = Buffer.concat([this.#stderrTail, bytes]).subarray(-(4 * STDERR_TAIL_CHARS + TAIL_SLACK))
  }

  /** From here on a result counts only when there was none before. Call right before the first signal of ours. */
  hold(): void {
    this.#held ??= envelopeFacts(this.#envelope)
    this.#holdAt = Number.POSITIVE_INFINITY
  }

  /** Like `hold`, for output that is read again from its start: after so many bytes of stdout. */
  holdAfter(stdoutBytes: number): void {
    this.#holdAt = stdoutBytes
  }

  get stdoutBytes(): number {
    return this.#stdoutBytes
  }

  /** The facts of the launch; call after its last byte. Texts of the child are redacted. */
  finish({ exit, durationMs }: LaunchExit, endedBy: EndReason | null): LaunchEnd {
    this.#lines(this.#stdout.end(), decodeRecord)
    const { redact } = this.#options
    const { sessionId: _sessionId, drift: _drift, ...facts } = envelopeFacts(this.#envelope)
    const { result, resultOversize, openTools, backgroundTasks } = this.#held !== null && this.#held.result !== null ? this.#held : facts
    return {
      ...facts,
      resultOversize,
      openTools,
      backgroundTasks,
      result: result === null ? null : { ...result, text: redact(result.text), errors: result.errors.map(redact) },
      exit,
      endedBy,
      stderrTail: redact(this.#stderrTail.toString('utf8')).slice(-STDERR_TAIL_CHARS),
      durationMs,
    }
  }

  /** US dollars so far. */
  get costUsd(): number {
    return envelopeFacts(this.#envelope).costUsd
  }

  get model(): string | null {
    return this.#envelope.model
  }

  /** Record types this version does not know. */
  get drift(): readonly string[] {
    return this.#envelope.drift
  }

  #takeStdout(bytes: Uint8Array): void {
    this.#stdoutBytes += bytes.length
    this.#lines(this.#stdout.push(bytes), decodeRecord)
  }

  #lines(lines: readonly FramedLine[], decode: (line: FramedLine) => ChildRecord): void {
    for (const line of lines) {
      const record = decode(line)
      if (record.kind === 'noise') continue
      addRecord(this.#envelope, record)
      if (record.kind !== 'heartbeat') this.progress += 1
      this.#options.onRecord(record)
    }
  }
}
