/**
 * Performs the effects the core asks for and turns each outcome back into one event. Owns the slots (checks 1, landing 1, advisor 2)
 * and everything in flight; decides nothing. A failure that no outcome describes is a defect: it is told once and stops the engine.
 */
import pLimit from 'p-limit'
import { assertNever } from '../../errors.ts'
import { openAttempt } from '../../core/run-state.ts'
import type { Effect, RunEvent, RunState } from '../../core/run-types.ts'
import type { AttemptActivity, AttemptEndRequest, AttemptHandle } from '../../executor/executor.ts'
import type { AttemptScope, EffectContext } from './effect-context.ts'
import { executeAttempt, keepDiff } from './execute-attempt.ts'
import { landAttempt } from './land-attempt.ts'
import { adviseAttempt, applyPatch, judgeAttempt, planPatch } from './supervise-attempt.ts'
import { prepareWorkspace } from './prepare-workspace.ts'

export interface EffectHooks {
  readonly state: () => RunState
  readonly activity: (task: string, attempt: number, activity: AttemptActivity) => void
  readonly settle: () => void
  readonly failed: (error: unknown) => void
}

/** An attempt under way. A request to end it may come before its executor has given the handle. */
interface Running {
  handle: AttemptHandle | null
  readonly ends: AttemptEndRequest[]
}

function requestEnd(running: Running, request: AttemptEndRequest): void {
  if (running.handle === null) running.ends.push(request)
  else running.handle.end(request)
}

export class Effects {
  readonly #context: EffectContext
  readonly #hooks: EffectHooks
  readonly #abort = new AbortController()
  readonly #running = new Map<string, Running>()
  /** Effects whose work is under way; an effect leaves before its event is posted, since the turn of that event may ask for it again. */
  readonly #keys = new Set<string>()
  /** Everything under way, its event included. */
  readonly #inFlight = new Set<Promise<void>>()
  readonly #checks = pLimit(1)
  readonly #landing = pLimit(1)
  readonly #advice = pLimit(2)
  #now = false

  constructor(context: Omit<EffectContext, 'signal'>, hooks: EffectHooks) {
    this.#context = { ...context, signal: this.#abort.signal }
    this.#hooks = hooks
  }

  /**
   * Left out: an effect that is under way already, since an engine that starts asks for everything without an outcome, and one whose attempt
   * a later event of the same turn has closed.
   */
  readonly perform = (effect: Effect): void => {
    if (effect.kind === 'settle') return this.#hooks.settle()
    if (effect.kind === 'end-attempts') return this.#end(effect.how, effect.task)
    const scope = this.#scope(effect)
    const key = [effect.kind, effect.task, effect.attempt, 'round' in effect ? effect.round : ''].join('/')
    if (scope === null || this.#keys.has(key)) return
    this.#keys.add(key)
    const work = this.#work(effect, scope)
      .finally(() => this.#keys.delete(key))
      .then(event => event === null ? undefined : this.#context.post(event))
      .catch((error: unknown) => this.#hooks.failed(error))
      .finally(() => this.#inFlight.delete(work))
    this.#inFlight.add(work)
  }

  #work(effect: Exclude<Effect, { readonly kind: 'settle' | 'end-attempts' }>, scope: AttemptScope): Promise<RunEvent | null> {
    switch (effect.kind) {
      case 'prepare-workspace':
        return this.#landing(() => prepareWorkspace(this.#context, scope))
      case 'execute':
        return this.#execute(scope)
      case 'judge':
        return this.#droppable(this.#checks, () => judgeAttempt(this.#context, scope))
      case 'advise':
        return this.#droppable(this.#advice, () => adviseAttempt(this.#context, scope, effect.round))
      case 'plan-patch':
        return this.#checks(() => planPatch(this.#context, scope, effect.round, effect.decision.edits))
      case 'apply-patch':
        return this.#checks(() => applyPatch(this.#context, scope, effect.round))
      case 'land':
        return this.#landing(() => landAttempt(this.#context, scope))
      default:
        return assertNever(effect)
    }
  }

  /** Ends every child at once with SIGKILL, and those that still come: the second signal of a person (SEMANTICS 11). */
  endNow(): void {
    this.#now = true
    this.#abort.abort()
    for (const running of this.#running.values()) requestEnd(running, 'now')
  }

  /** Drops judging and advice, lets landings and patches finish, and resolves when nothing of ours runs any more. */
  async quiesce(): Promise<void> {
    this.#abort.abort()
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  #scope(ref: { readonly task: string, readonly attempt: number }): AttemptScope | null {
    const task = this.#hooks.state().byId.get(ref.task)
    const attempt = task === undefined ? null : openAttempt(task)
    return task === undefined || attempt?.attempt !== ref.attempt ? null : { task, attempt }
  }

  async #execute(scope: AttemptScope): Promise<RunEvent | null> {
    const { id } = scope.task.spec
    const { attempt } = scope.attempt
    const running: Running = { handle: null, ends: this.#now ? ['now'] : [] }
    this.#running.set(id, running)
    try {
      const started = await executeAttempt(this.#context, scope, activity => this.#hooks.activity(id, attempt, activity))
      if (started.kind === 'refused') return started.event
      running.handle = started.handle
      for (const request of running.ends) started.handle.end(request)
      const outcome = await started.handle.outcome
      await keepDiff(this.#context, scope)
      return { type: 'attempt-outcome', task: id, attempt, outcome }
    } finally {
      this.#running.delete(id)
    }
  }

  #end(how: 'stop' | 'abort', task: string | undefined): void {
    for (const [id, running] of this.#running) {
      if (task === undefined || task === id) requestEnd(running, how)
    }
  }

  /** Runs in a slot; work that was dropped while it waited or ran posts nothing: the next engine asks for it again. */
  async #droppable(
    slot: (work: () => Promise<RunEvent | null>) => Promise<RunEvent | null>,
    work: () => Promise<RunEvent>,
  ): Promise<RunEvent | null> {
    return slot(async () => {
      if (this.#abort.signal.aborted) return null
      try {
        const event = await work()
        return this.#abort.signal.aborted ? null : event
      } catch (error) {
        if (this.#abort.signal.aborted) return null
        throw error
      }
    })
  }
}
