/**
 * Watches one living launch to its end: feeds what it writes to the pure watchdog, keeps one timer at the watchdog's next deadline, ends the tree when a clock runs out
 * or the owner asks. Carries no policy of its own: the clocks are the watchdog's, what follows is `attempt-policy.ts`.
 */
import type { EndReason } from '../../core/attempt-types.ts'
import type { EndNote } from './end-note.ts'
import type { AttemptActivity } from '../executor.ts'
import type { LaunchReader } from './launch-reader.ts'
import type { EndUrgency, LaunchExit, LiveLaunch } from '../keeper/launch-types.ts'
import type { Pacemaker } from '../watchdog/pacemaker.ts'
import { TAIL_INTERVAL_MS } from '../keeper/tail.ts'
import { check, nextDeadline, type Fired } from '../watchdog/watchdog.ts'
import type { WatchdogSettings } from '../watchdog/settings.ts'
import { situationOf } from '../watchdog/situation.ts'
import { newWatchdog, observe, type WatchdogState } from '../watchdog/state.ts'

export interface SupervisorOptions {
  readonly launch: number
  readonly live: LiveLaunch
  readonly settings: WatchdogSettings
  /** Age of the launch in ms: bounds the run time of an adopted one. */
  readonly ageMs: number
  /** Dry-run: says what it would end, ends nothing. */
  readonly dryRun: boolean
  readonly pacemaker: Pacemaker
  /** Called once, before the first signal of ours: leaves a note of the reason for an engine that may have to go on from here. */
  readonly noteEnd: (note: EndNote) => void
  /** Called before the first signal unless that must come at once. Must not reject. */
  readonly snapshot: () => Promise<void>
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
  /** Since a deadline has passed: when it will be believed. */
  #confirmAt: number | null = null
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
    if (first) {
      this.#options.noteEnd({ reason, stdoutBytes: this.#reader.stdoutBytes })
      this.#reader.hold()
    }
    if (urgency === 'now') {
      this.#ending = this.#options.live.end('now')
    } else if (first) {
      this.#ending = this.#options.snapshot().then(() => this.#options.live.end('ladder'))
    }
  }

  /** For an adopted launch whose end an earlier engine had begun. */
  goOnEnding({ reason, stdoutBytes }: EndNote): void {
    this.#endedBy = reason
    this.#reader.holdAfter(stdoutBytes)
    this.#ending = this.#options.live.end('ladder')
  }

  #arm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#ended || this.#endedBy !== null) return
    const now = performance.now()
    const deadline = nextDeadline(this.#watchdog)
    const due = this.#confirmAt ?? Math.min(deadline?.at ?? Number.POSITIVE_INFINITY, this.#cpuLookAt())
    this.#timer = setTimeout(() => this.#onTimer(), Math.min(Math.max(0, due - now), LONGEST_TIMER_MS))
  }

  #onTimer(): void {
    const { pacemaker, live } = this.#options
    pacemaker.look()
    if (this.#cpuLookAt() <= performance.now()) {
      observe(this.#watchdog, { kind: 'ticks', cpuTicks: live.cpuTicks(), stopped: live.stopped() }, performance.now())
    }
    const now = performance.now()
    const fired = check(this.#watchdog, now)
    if (fired === null) this.#confirmAt = null
    else if (this.#confirmAt === null) this.#confirmAt = now + CONFIRM_MS
    else if (this.#confirmAt <= now) this.#act(fired)
    this.#arm()
  }

  #act(fired: Fired): void {
    this.#confirmAt = null
    if (this.#options.dryRun) {
      this.#report(fired)
      return
    }
    this.#fired = fired
    if (this.#options.live.stopped()) {
      this.#options.warn('child-stopped', `A signal had stopped the child, and nothing continued it; it is ended now. ${fired.situation}`)
    }
    this.end({ kind: 'clock', clock: fired.clock }, 'ladder')
  }

  /** When the CPU time should be read next; infinite while the last sign of life is fresh, or where there is no heartbeat. */
  #cpuLookAt(): number {
    const { heartbeatMs } = this.#options.settings
    if (heartbeatMs === null || !this.#watchdog.heartbeatSeen) return Number.POSITIVE_INFINITY
    return Math.max(this.#watchdog.signAt + heartbeatMs, (this.#watchdog.cpu?.until ?? 0) + CPU_LOOK_MS)
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
