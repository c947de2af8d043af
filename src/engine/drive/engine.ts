/**
 * One engine drives one run: it holds the lock, folds the journal, runs turns, performs effects, listens to the control spool, and leaves.
 * Everything a view shows comes from published (durable) entries. Creating and finding runs is `runs.ts`.
 */
import { hostname } from 'node:os'
import { OpenClaudeError } from '../../errors.ts'
import type { Entry, RunResult } from '../../core/entry-types.ts'
import type { ControlCommand, RunEvent, RunState } from '../../core/run-types.ts'
import { attemptsLeft } from '../../core/policy.ts'
import { reduce } from '../../core/reduce.ts'
import { isSettled } from '../../core/run-state.ts'
import type { AttemptActivity } from '../../executor/executor.ts'
import { Effects } from './effects.ts'
import type { Pacemaker } from '../../executor/watchdog/pacemaker.ts'
import type { EngineParts } from './parts.ts'
import { TurnLoop } from './turn-loop.ts'

/** How an engine left its run. */
export type EngineEnd =
  | { readonly kind: 'finished', readonly result: RunResult }
  /** Stopped, resumable. */
  | { readonly kind: 'stopped', readonly reason: string }

export interface EngineObserver {
  /** After every durable batch, in order. `state` may be read until the call returns. */
  readonly entries?: (entries: readonly Entry[], state: RunState) => void
  readonly activity?: (task: string, attempt: number, activity: AttemptActivity) => void
}

export interface EngineOptions {
  readonly run: string
  readonly runDir: string
  readonly version: string
  /** The fold of the journal so far; empty for a new run. The engine takes it over. */
  readonly state: RunState
  readonly parts: EngineParts
  readonly append: (entries: readonly Entry[]) => Promise<void>
  readonly observers: readonly EngineObserver[]
  /** Tells when the machine slept or this program stood still; absent = nobody tells. */
  readonly suspensions?: Pick<Pacemaker, 'listen'>
}

export class Engine {
  readonly #options: EngineOptions
  readonly #loop: TurnLoop
  readonly #effects: Effects
  readonly #end = Promise.withResolvers<EngineEnd>()
  readonly #deaf = new Set<EngineObserver>()
  #stopReason = 'finished'
  /** Pending while it is open whether the engine leaves: what was posted before may give the run new work. */
  #deciding: Promise<void> = Promise.resolve()
  #leaving = false
  /** The last entry is being written, or there will be none. */
  #closed = false
  #unlisten = (): void => undefined

  constructor(options: EngineOptions) {
    this.#options = options
    const { state } = options
    this.#loop = new TurnLoop({
      reduce: event => reduce(state, event),
      append: options.append,
      perform: effect => this.#effects.perform(effect),
      publish: entries => this.#publish(entries),
      failed: error => this.fail(error),
    })
    this.#effects = new Effects(
      { run: options.run, runDir: options.runDir, parts: options.parts, post: event => this.#loop.post(event), attemptsLeft: task => attemptsLeft(task, state) },
      {
        state: () => state,
        activity: (task, attempt, activity) => {
          for (const observer of options.observers) this.#guarded(observer, () => observer.activity?.(task, attempt, activity))
        },
        settle: () => this.#settle(),
        failed: error => this.fail(error),
      },
    )
    // A rejection is delivered to whoever asks for `finished`; nobody asking must not be an unhandled rejection.
    this.#end.promise.catch(() => undefined)
  }

  get leaving(): boolean {
    return this.#leaving
  }

  /** Settles when the engine has left the run; rejects when the journal or the engine itself failed (children then live on under their keepers). */
  get finished(): Promise<EngineEnd> {
    return this.#end.promise
  }

  /** Announces the engine; `before` and `after` are events of the same turn. */
  start({ before, after }: { readonly before: readonly RunEvent[], readonly after: readonly RunEvent[] }): void {
    this.#unlisten = this.#options.suspensions?.listen(({ why, gapMs }) => this.post({ type: 'suspended', why, gapMs })) ?? this.#unlisten
    const announced: RunEvent = { type: 'engine-started', pid: process.pid, host: hostname(), version: this.#options.version }
    for (const event of [...before, announced, ...after]) this.post(event)
  }

  /** Graceful: nothing new is started, children are interrupted, the run stays resumable. */
  stop(reason: string): void {
    if (this.#options.state.status === 'running') this.#stopReason = reason
    this.post({ type: 'stop', reason })
  }

  /** The second signal: SIGKILL to every tree at once. */
  stopNow(reason: string): void {
    this.stop(reason)
    this.#effects.endNow()
  }

  /** Resolves when the command is written and its effects are asked for. Rejects while the engine is leaving: the command is then for the next one. */
  async control(id: string, by: string, command: ControlCommand): Promise<void> {
    await this.#deciding
    if (this.#leaving) throw new OpenClaudeError('OC_RUN_STATE', `The engine of run ${this.#options.run} is leaving.`)
    if (command.kind === 'stop' && this.#options.state.status === 'running') this.#stopReason = `stopped by ${by}`
    await this.#loop.post({ type: 'control', id, by, command })
  }

  /** What comes after the last entry is dropped. */
  post(event: RunEvent): void {
    if (this.#closed) return
    // The failure itself is told once, through `failed`.
    this.#loop.post(event).catch(() => undefined)
  }

  #settle(): void {
    if (this.#leaving || !isSettled(this.#options.state)) return
    const decided = Promise.withResolvers<void>()
    this.#deciding = decided.promise
    this.#leaving = true
    this.#leave(decided.resolve).catch((error: unknown) => this.fail(error))
  }

  async #leave(decided: () => void): Promise<void> {
    const { state } = this.#options
    await this.#loop.idle()
    this.#leaving = isSettled(state)
    decided()
    if (!this.#leaving) return
    await this.#effects.quiesce()
    await this.#loop.idle()
    this.#unlisten()
    this.#closed = true
    await this.#loop.post({ type: 'engine-stopped', reason: this.#stopReason })
    const { status, result } = state
    if (status === 'finished' && result !== null) this.#end.resolve({ kind: 'finished', result })
    else this.#end.resolve({ kind: 'stopped', reason: this.#stopReason })
  }

  /** A view that throws loses its place; a run does not end for it. */
  #publish(entries: readonly Entry[]): void {
    for (const observer of this.#options.observers) this.#guarded(observer, () => observer.entries?.(entries, this.#options.state))
  }

  #guarded(observer: EngineObserver, tell: () => void): void {
    if (this.#deaf.has(observer)) return
    try {
      tell()
    } catch (error) {
      this.#deaf.add(observer)
      this.post({ type: 'warning', code: 'observer-failed', message: `A view of the run failed and is left out from now on: ${messageOf(error)}` })
    }
  }

  /** The journal, or a part that must not fail, failed: nothing further is started or written. Children live on under their keepers. */
  fail(error: unknown): void {
    this.#closed = true
    this.#unlisten()
    this.#end.reject(error instanceof OpenClaudeError ? error : new OpenClaudeError('OC_INTERNAL', messageOf(error), { cause: error }))
    this.#loop.poison(error)
    void this.#effects.quiesce()
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
