/**
 * Performs the effects the core asks for and turns each outcome back into one event. Owns the slots (checks 1, landing 1, advisor 2)
 * and everything in flight; decides nothing. A failure that no outcome describes is a defect: it is told once and stops the engine.
 */
import pLimit from 'p-limit'
import { assertNever } from '../errors.ts'
import type { AttemptState, Effect, RunEvent, RunState, TaskState } from '../core/run-types.ts'
import type { AttemptActivity, AttemptHandle } from '../executor/executor.ts'
import type { EngineParts } from './parts.ts'
import { executeAttempt } from './execute-attempt.ts'
import { adviseAttempt, applyPatch, judgeAttempt, planPatch } from './supervise-attempt.ts'
import { prepareWorkspace } from './prepare-workspace.ts'

export interface EffectContext {
  readonly run: string
  readonly runDir: string
  readonly parts: EngineParts
  readonly post: (event: RunEvent) => Promise<void>
  readonly signal: AbortSignal
}

/** One attempt as an effect sees it: copied at the turn that asked for it, so that no effect reads a newer state. */
export interface AttemptScope {
  readonly task: TaskState
  readonly attempt: AttemptState
}

export interface EffectHooks {
  readonly state: () => RunState
  readonly activity: (task: string, attempt: number, activity: AttemptActivity) => void
  readonly settle: () => void
  readonly failed: (error: unknown) => void
}

export class Effects {
  readonly #context: EffectContext
  readonly #hooks: EffectHooks
  readonly #abort = new AbortController()
  readonly #running = new Map<string, AttemptHandle>()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #checks = pLimit(1)
  readonly #landing = pLimit(1)
  readonly #advice = pLimit(2)

  constructor(context: Omit<EffectContext, 'signal'>, hooks: EffectHooks) {
    this.#context = { ...context, signal: this.#abort.signal }
    this.#hooks = hooks
  }

  readonly perform = (effect: Effect): void => {
    switch (effect.kind) {
      case 'settle':
        return this.#hooks.settle()
      case 'end-attempts':
        return this.#end(effect.how, effect.task)
      case 'prepare-workspace':
        return this.#track(this.#landing(() => prepareWorkspace(this.#context, this.#scope(effect))))
      case 'execute':
        return this.#track(this.#execute(this.#scope(effect)))
      case 'judge':
        return this.#track(this.#guarded(this.#checks, () => judgeAttempt(this.#context, this.#scope(effect))))
      case 'advise':
        return this.#track(this.#guarded(this.#advice, () => adviseAttempt(this.#context, this.#scope(effect), effect.round)))
      case 'plan-patch':
        return this.#track(this.#guarded(this.#checks, () => planPatch(this.#context, this.#scope(effect), effect.round, effect.decision.edits)))
      case 'apply-patch':
        return this.#track(this.#guarded(this.#checks, () => applyPatch(this.#context, this.#scope(effect), effect.round)))
      case 'land':
        return this.#track(this.#guarded(this.#landing, () => this.#land(this.#scope(effect))))
      default:
        return assertNever(effect)
    }
  }

  /** Ends every child at once with SIGKILL: the second signal of a person (SEMANTICS 11). */
  endNow(): void {
    for (const handle of this.#running.values()) handle.end('now')
  }

  /** Cancels judging, advice and landing that are under way, and resolves when nothing of ours runs any more. */
  async quiesce(): Promise<void> {
    this.#abort.abort()
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  #scope(ref: { readonly task: string }): AttemptScope {
    const task = this.#hooks.state().byId.get(ref.task)
    if (task === undefined || (task.state.status !== 'active' && task.state.status !== 'landing')) {
      throw new Error(`effect for task "${ref.task}" which has no attempt`)
    }
    return { task, attempt: task.state.attempt }
  }

  async #execute(scope: AttemptScope): Promise<void> {
    const { id } = scope.task.spec
    const started = await executeAttempt(this.#context, scope, activity => this.#hooks.activity(id, scope.attempt.attempt, activity))
    if (started === null) return
    this.#running.set(id, started)
    const outcome = await started.outcome
    this.#running.delete(id)
    await this.#context.post({ type: 'attempt-outcome', task: id, attempt: scope.attempt.attempt, outcome })
  }

  async #land(scope: AttemptScope): Promise<void> {
    const { spec } = scope.task
    const workspace = await this.#context.parts.workspace.prepare(spec.id, scope.attempt.attempt, { freshTree: false })
    const landed = await this.#context.parts.workspace.land(spec.id, scope.attempt.attempt, workspace)
    const ref = { task: spec.id, attempt: scope.attempt.attempt }
    if (landed.kind === 'landed') await this.#context.post({ type: 'landed', ...ref, commit: landed.commit })
    else await this.#context.post({ type: 'land-refused', ...ref, reason: landed.reason, message: landed.message })
  }

  #end(how: 'stop' | 'abort', task: string | undefined): void {
    for (const [id, handle] of this.#running) {
      if (task === undefined || task === id) handle.end(how)
    }
  }

  /** Runs in a slot; work that was cancelled while it waited or ran posts nothing: the next engine asks for it again. */
  async #guarded(slot: (work: () => Promise<void>) => Promise<void>, work: () => Promise<void>): Promise<void> {
    await slot(async () => {
      if (this.#abort.signal.aborted) return
      try {
        await work()
      } catch (error) {
        if (!this.#abort.signal.aborted) throw error
      }
    })
  }

  #track(work: Promise<void>): void {
    const settled = work.catch((error: unknown) => this.#hooks.failed(error)).finally(() => this.#inFlight.delete(settled))
    this.#inFlight.add(settled)
  }
}
