/**
 * Tells when silence proves nothing: the machine slept, or this program stood still (SEMANTICS 13).
 * sleep = the boot clock grew more than the monotonic one, so a jump of the wall clock is none; pause = a tick came two periods late.
 */
import { uptime } from 'node:os'

export interface Suspension {
  readonly why: 'sleep' | 'pause'
  readonly gapMs: number
}

export interface Instant {
  /** `performance.now()`. */
  readonly monoMs: number
  /** `os.uptime()` in ms: goes on while the machine sleeps. */
  readonly bootMs: number
}

export const PACE_MS = 1000
/** The boot clock is read a moment after the monotonic one, and with a coarser grain. */
const SLEEP_MS = 2000

/** Pure: what lies between two ticks; null = nothing worth mentioning. */
export function suspensionBetween(before: Instant, now: Instant): Suspension | null {
  const monoMs = now.monoMs - before.monoMs
  const asleepMs = now.bootMs - before.bootMs - monoMs
  if (asleepMs >= SLEEP_MS) return { why: 'sleep', gapMs: Math.round(asleepMs) }
  return monoMs >= 3 * PACE_MS ? { why: 'pause', gapMs: Math.round(monoMs) } : null
}

type Listener = (suspension: Suspension) => void

/** One timer for all listeners; it runs only while there are any and never keeps the process alive. */
export class Pacemaker {
  readonly #listeners = new Set<Listener>()
  readonly #read: () => Instant
  #last: Instant | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(read: () => Instant = readClocks) {
    this.#read = read
  }

  /** @returns ends the listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#timer === null) {
      this.#last = this.#read()
      this.#timer = setInterval(() => this.look(), PACE_MS).unref()
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  /** Looks at once; to be called before a deadline is believed, since after a pause its timer may come before the tick. */
  look(): void {
    const now = this.#read()
    const suspension = this.#last === null ? null : suspensionBetween(this.#last, now)
    this.#last = now
    if (suspension === null) return
    for (const listener of this.#listeners) listener(suspension)
  }
}

/** Shared by all launches of this engine. */
export const pacemaker: Pacemaker = new Pacemaker()

function readClocks(): Instant {
  return { monoMs: performance.now(), bootMs: uptime() * 1000 }
}
