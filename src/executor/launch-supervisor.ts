/**
 * Watches one living launch to its end: feeds what it writes to the pure watchdog, keeps one timer at the watchdog's next deadline, ends the tree when a clock runs out
 * or the owner asks. Carries no policy of its own: the clocks are the watchdog's, what follows is `attempt-policy.ts`.
 */
import type { EndReason } from '../core/attempt-types.ts'
import type { AttemptActivity } from './executor.ts'
import type { LaunchReader } from './launch-reader.ts'
import type { EndUrgency, LaunchExit, LiveLaunch } from './launch-types.ts'
import type { Pacemaker } from './pacemaker.ts'
import { TAIL_INTERVAL_MS } from './tail.ts'
import { check, nextDeadline, type Fired } from './watchdog.ts'
import type { WatchdogSettings } from './watchdog-settings.ts'
import { situationOf } from './watchdog-situation.ts'
import { newWatchdog, observe, type WatchdogState } from './watchdog-state.ts'

export interface SupervisorOptions {
  readonly launch: number
  readonly live: LiveLaunch
  readonly settings: WatchdogSettings
  /** Age of the launch in ms: bounds the run time of an adopted one. */
  readonly ageMs: number
  /** Dry-run: says what it would end, ends nothing. */
  readonly dryRun: boolean
  readonly pacemaker: Pacemaker
  /** Called before the first signal: takes the snapshot, leaves a note of the reason. Must not reject. */
  readonly beforeEnd: (reason: EndReason) => Promise<void>
  readonly activity: (activity: AttemptActivity) => void
  readonly warn: (code: string, message: string) => void
}

export interface SupervisedEnd {
  readonly exit: LaunchExit
  /** Why we ended it; the first reason counts. */
  readonly endedBy: EndReason | null
  /** What the clock that fired said about it; null when none did. */
  readonly fired: Fired | null
}

/** A timer is set no further ahead than this: Node turns a longer delay into none. */
const LONGEST_TIMER_MS = 2_147_483_647
/** A deadline is believed only after the output was looked at twice more: a record may be written and not read yet. */
const CONFIRM_MS = 2 * TAIL_INTERVAL_MS
/** CPU time is looked at this often once a heartbeat is missing. */
const CPU_LOOK_MS = 1000

export class LaunchSupervisor {
  readonly #options: SupervisorOptions
  readonly #reader: LaunchReader
  readonly #watchdog: WatchdogState
  #timer: NodeJS.Timeout | null = null
  #confirming = false
  #ended = false
  #endedBy: EndReason | null = null
  #fired: Fired | null = null
  #ending: Promise<void> | null = null
  #reported = new Set<string>()

  /** @param makeReader gets the observer of this supervisor, so that every record reaches both. */
  constructor(options: SupervisorOptions, makeReader: (onRecord: ConstructorParameters<typeof LaunchReader>[0]['onRecord']) => LaunchReader) {
    const now = performance.now()
    this.#options = options
    this.#watchdog = newWatchdog(options.settings, now, now - options.ageMs)
    this.#reader = makeReader(record => observe(this.#watchdog, { kind: 'record', record }, performance.now()))
  }

  get reader(): LaunchReader {
    return this.#reader
  }

  /** Resolves when the child is gone and every byte was read. Never rejects. */
  async run(): Promise<SupervisedEnd> {
    const { live, pacemaker } = this.#options
    const forget = pacemaker.listen(() => {
      observe(this.#watchdog, { kind: 're-arm', why: 'suspended' }, performance.now())
      this.#arm()
    })
    live.onChunk(chunk => {
      this.#reader.take(chunk)
      this.#tell()
      this.#arm()
    })
    this.#arm()
    const exit = await live.exited
    this.#ended = true
    forget()
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#ending
    return { exit, endedBy: exit.endedByKeeper ?? this.#endedBy, fired: this.#fired }
  }

  /** Idempotent; `now` shortens a running ladder. The first reason counts. */
  end(reason: EndReason, urgency: EndUrgency): void {
    if (this.#ended) return
    const first = this.#endedBy === null
    this.#endedBy ??= reason
    if (urgency === 'now') {
      this.#ending = this.#options.live.end('now')
    } else if (first) {
      this.#ending = this.#options.beforeEnd(reason).then(() => this.#options.live.end('ladder'))
    }
  }

  #arm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#ended || this.#endedBy !== null) return
    const now = performance.now()
    const waits = [LONGEST_TIMER_MS]
    const deadline = nextDeadline(this.#watchdog)
    if (deadline !== null) waits.push(Math.max(0, deadline.at - now))
    if (this.#confirming) waits.push(CONFIRM_MS)
    const beat = this.#nextCpuLook(now)
    if (beat !== null) waits.push(beat)
    // While a deadline is being confirmed it lies in the past: then only the confirmation counts.
    const wait = this.#confirming ? CONFIRM_MS : Math.min(...waits)
    this.#timer = setTimeout(() => this.#onTimer(), wait)
  }

  #onTimer(): void {
    const { pacemaker, live, dryRun } = this.#options
    pacemaker.look()
    if (this.#nextCpuLook(performance.now()) === 0) {
      observe(this.#watchdog, { kind: 'ticks', cpuTicks: live.cpuTicks(), stopped: live.stopped() }, performance.now())
    }
    const fired = check(this.#watchdog, performance.now())
    const confirmed = fired !== null && this.#confirming
    this.#confirming = fired !== null && !confirmed
    if (fired !== null && confirmed) {
      if (dryRun) {
        this.#report(fired)
      } else {
        this.#fired = fired
        this.end({ kind: 'clock', clock: fired.clock }, 'ladder')
      }
    }
    this.#arm()
  }

  /** Ms until the CPU time should be read; 0 = now, null = not needed, since the last sign of life is fresh or there is no heartbeat. */
  #nextCpuLook(now: number): number | null {
    const { heartbeatMs } = this.#options.settings
    if (heartbeatMs === null || !this.#watchdog.heartbeatSeen) return null
    const due = Math.max(this.#watchdog.signAt + heartbeatMs, (this.#watchdog.cpu?.until ?? 0) + CPU_LOOK_MS)
    return Math.max(0, due - now)
  }

  /** Once per clock and standstill; then the window starts anew. */
  #report(fired: Fired): void {
    const standstill = `${fired.clock} ${this.#reader.progress}`
    if (!this.#reported.has(standstill)) {
      this.#reported.add(standstill)
      this.#options.warn('watchdog-would-end', `Dry run, nothing was ended. ${fired.situation}`)
    }
    observe(this.#watchdog, { kind: 're-arm', why: 'reported' }, performance.now())
  }

  #tell(): void {
    const { launch, activity } = this.#options
    const { clock } = situationOf(this.#watchdog)
    activity({
      launch,
      phase: PHASES[clock],
      lastTool: this.#watchdog.work.lastTool,
      progressAt: this.#watchdog.anyProgressAt,
      costUsd: this.#reader.costUsd,
    })
  }
}

const PHASES = {
  'first-event': 'starting',
  'idle': 'model',
  'tool': 'tool',
  'agent-tool': 'helper',
  'retry-wait': 'retry',
  'background': 'background',
  'settle': 'settling',
} as const satisfies Record<ReturnType<typeof situationOf>['clock'], string>
