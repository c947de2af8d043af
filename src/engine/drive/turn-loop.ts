/**
 * The turn rule (SEMANTICS 6): reduce all queued events, append one batch of entries, and only when that batch is as durable as
 * its kinds demand, start effects and tell views. Owns the order of things; performs no effect itself and knows no file.
 */
import type { Entry } from '../../core/entry-types.ts'
import type { Effect, RunEvent, Step } from '../../core/run-types.ts'

export interface TurnPorts {
  readonly reduce: (event: RunEvent) => Step
  /** Resolves when the batch is durable. A rejection poisons the loop. */
  readonly append: (entries: readonly Entry[]) => Promise<void>
  /** Called after the append, in order; must not wait. */
  readonly perform: (effect: Effect) => void
  readonly publish: (entries: readonly Entry[]) => void
  /** Called once, with the first failure: of an append, of the reducer, or the one that `poison` was told. */
  readonly failed: (error: unknown) => void
}

interface Queued {
  readonly event: RunEvent
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class TurnLoop {
  readonly #ports: TurnPorts
  #queue: Queued[] = []
  #draining: Promise<void> | null = null
  #poison: { readonly error: unknown } | null = null

  constructor(ports: TurnPorts) {
    this.#ports = ports
  }

  /** Queues an event. Resolves when its entries are durable and its effects have been started; rejects once the loop is poisoned. */
  post(event: RunEvent): Promise<void> {
    if (this.#poison !== null) return Promise.reject(this.#poison.error)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push({ event, resolve, reject })
    this.#draining ??= this.#drain()
    return promise
  }

  /** Resolves when no event is queued or in work. */
  async idle(): Promise<void> {
    while (this.#draining !== null) await this.#draining
  }

  /** Something beside the turns failed: nothing more is reduced, written or performed; every post rejects with `error`. */
  poison(error: unknown): void {
    if (this.#poison !== null) return
    this.#poison = { error }
    this.#rejectAll(this.#queue)
    this.#queue = []
    this.#ports.failed(error)
  }

  async #drain(): Promise<void> {
    // One microtask of patience: events posted together share a turn.
    await Promise.resolve()
    while (this.#queue.length > 0 && this.#poison === null) {
      const batch = this.#queue
      this.#queue = []
      await this.#turn(batch)
    }
    this.#draining = null
  }

  async #turn(batch: readonly Queued[]): Promise<void> {
    const entries: Entry[] = []
    const effects: Effect[] = []
    try {
      for (const { event } of batch) {
        const step = this.#ports.reduce(event)
        entries.push(...step.entries)
        effects.push(...step.effects)
      }
      if (entries.length > 0) await this.#ports.append(entries)
      this.#requireHealthy()
      if (entries.length > 0) this.#ports.publish(entries)
      for (const effect of effects) this.#ports.perform(effect)
    } catch (error) {
      this.poison(error)
      this.#rejectAll(batch)
      return
    }
    for (const { resolve } of batch) resolve()
  }

  /** The loop may have been poisoned while the append was under way. */
  #requireHealthy(): void {
    if (this.#poison !== null) throw this.#poison.error
  }

  #rejectAll(queued: readonly Queued[]): void {
    for (const { reject } of queued) reject(this.#poison?.error)
  }
}
