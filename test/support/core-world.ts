/**
 * A driver for tests of the core: performs the effects by a script instead of by processes, one at a time, and checks after every event that the fold
 * of the entries equals the live state. Effects wait in `pending`; an effect that is already waiting is not added twice, as the real driver does.
 */
import type { AttemptOutcome } from '../../src/core/attempt-types.ts'
import type { Entry } from '../../src/core/entry-types.ts'
import type { Advice, Evidence, Verdict } from '../../src/core/evidence-types.ts'
import { applyEntry, foldEntries } from '../../src/core/apply-entry.ts'
import type { Graph } from '../../src/core/graph-types.ts'
import { reduce } from '../../src/core/reduce.ts'
import type { Effect, RunEvent, RunPolicy, RunState } from '../../src/core/run-types.ts'
import { stateDifference } from '../../src/core/state-difference.ts'
import { evidence, launchEnd, launchIntended, outcome, policy, verdict } from './core-facts.ts'

export interface Script {
  /** How attempt `n` of the task ends; default succeeded. */
  readonly outcome?: (task: string, attempt: number) => AttemptOutcome
  readonly checks?: (task: string, attempt: number) => readonly Evidence[]
  readonly verdict?: (task: string, attempt: number) => Verdict
  readonly advice?: (task: string, attempt: number, round: number) => Advice
  readonly patched?: (task: string, attempt: number, round: number) => 'applied' | 'suggested' | 'refused'
  readonly land?: (task: string, attempt: number) => 'landed' | 'conflict'
}

export interface World {
  readonly state: RunState
  readonly graph: Graph
  readonly entries: Entry[]
  /** Effects that were asked for and not performed yet. */
  readonly pending: Effect[]
  readonly settles: number
  /** Feeds one event. */
  readonly send: (event: RunEvent) => Entry[]
  /** Performs waiting effects, first one first, until none is left or `until` holds. */
  readonly run: (until?: (effect: Effect) => boolean) => void
  /** Performs one effect. */
  readonly perform: (effect: Effect) => void
}

export const STARTED: RunEvent = { type: 'engine-started', pid: 1, host: 'here', version: '0' }

export interface WorldOptions {
  readonly policy?: Partial<RunPolicy>
  readonly script?: Script
  /** Off for measurements and large graphs. */
  readonly checkFold?: boolean
  /** Entries of an earlier engine. */
  readonly entries?: readonly Entry[]
}

export function world(graph: Graph, options: WorldOptions = {}): World {
  const runPolicy = policy(options.policy)
  const script = options.script ?? {}
  const entries: Entry[] = [...options.entries ?? []]
  const state = foldEntries(graph, 'run', runPolicy, entries)
  // The fold of the entries as a reader of the journal would have it: nothing is shared with the live state.
  const folded = options.checkFold === false ? null : foldEntries(graph, 'run', runPolicy, structuredClone(entries))
  const pending: Effect[] = []
  let settles = 0

  const send = (event: RunEvent): Entry[] => {
    const step = reduce(state, event)
    entries.push(...step.entries)
    for (const effect of step.effects) {
      if (effect.kind === 'settle') settles += 1
      else if (!pending.some(other => sameEffect(other, effect))) pending.push(effect)
    }
    if (folded !== null) {
      for (const entry of step.entries) applyEntry(folded, structuredClone(entry))
      const difference = stateDifference(folded, state)
      if (difference !== null) throw new Error(`the fold of the entries differs from the live state at ${difference} after ${JSON.stringify(event)}`)
    }
    return [...step.entries]
  }

  const endAttempts = (effect: Extract<Effect, { kind: 'end-attempts' }>): void => {
    const running = pending.filter(other => other.kind === 'execute' && (effect.task === undefined || other.task === effect.task))
    for (const other of running) {
      pending.splice(pending.indexOf(other), 1)
      if (other.kind === 'execute') send({ type: 'attempt-outcome', task: other.task, attempt: other.attempt, outcome: outcome(effect.how === 'stop' ? 'stopped' : 'aborted') })
    }
  }

  const execute = ({ task, attempt }: { readonly task: string, readonly attempt: number }): void => {
    const result = script.outcome?.(task, attempt) ?? outcome('succeeded')
    if (result.kind !== 'spawn-failed' && state.status === 'running') {
      const launch = (state.byId.get(task)?.state.status === 'active' ? launchesOf(state, task) : 0) + 1
      send({ type: 'launch-fact', task, attempt, fact: launchIntended(launch) })
      send({ type: 'launch-fact', task, attempt, fact: { kind: 'launch-live', launch, keeper: null, child: null } })
      send({ type: 'launch-fact', task, attempt, fact: { kind: 'launch-first-record', launch } })
      send({ type: 'launch-fact', task, attempt, fact: { kind: 'launch-ended', launch, end: launchEnd(), tree: 'tree' } })
      send({ type: 'launch-fact', task, attempt, fact: { kind: 'launch-swept', launch, result: 'clean', ended: 0 } })
    }
    send({ type: 'attempt-outcome', task, attempt, outcome: result })
  }

  const judge = ({ task, attempt }: { readonly task: string, readonly attempt: number }): void => {
    const checks = script.checks?.(task, attempt) ?? [evidence('test', 'passed')]
    for (const each of checks) send({ type: 'evidence', task, attempt, evidence: each })
    send({ type: 'judged', task, attempt, verdict: script.verdict?.(task, attempt) ?? verdict('verified') })
  }

  const perform = (effect: Effect): void => {
    const at = pending.indexOf(effect)
    if (at >= 0) pending.splice(at, 1)
    switch (effect.kind) {
      case 'prepare-workspace':
        send({ type: 'workspace-ready', task: effect.task, attempt: effect.attempt, path: '/w', workspace: 'shared', tree: 'before' })
        return
      case 'execute':
        execute(effect)
        return
      case 'judge':
        judge(effect)
        return
      case 'advise': {
        const { task, attempt, round } = effect
        send({ type: 'advised', task, attempt, round, advice: script.advice?.(task, attempt, round) ?? { kind: 'unavailable', reason: 'no script' } })
        return
      }
      case 'plan-patch': {
        const { task, attempt, round } = effect
        send({ type: 'patch-planned', task, attempt, round, before: 'before', after: 'after', file: `advice/${round}.diff` })
        return
      }
      case 'apply-patch': {
        const { task, attempt, round } = effect
        send({ type: 'patched', task, attempt, round, result: script.patched?.(task, attempt, round) ?? 'applied', reason: 'as scripted', tree: 'after' })
        return
      }
      case 'land': {
        const { task, attempt } = effect
        if ((script.land?.(task, attempt) ?? 'landed') === 'landed') send({ type: 'landed', task, attempt, commit: `commit-${task}` })
        else send({ type: 'land-refused', task, attempt, reason: 'conflict', message: `conflict in ${task}` })
        return
      }
      case 'end-attempts':
        endAttempts(effect)
        return
      case 'settle':
        return
      default:
        effect satisfies never
    }
  }

  return {
    state,
    graph,
    entries,
    pending,
    get settles() {
      return settles
    },
    send,
    perform,
    run: until => {
      for (let next = pending[0]; next !== undefined; next = pending[0]) {
        if (until?.(next) === true) return
        perform(next)
      }
    },
  }
}

/** A new run, created and started. */
export function startWorld(graph: Graph, options: WorldOptions = {}): World {
  const started = world(graph, options)
  started.send({ type: 'created', graphSha256: 'sha' })
  started.send(STARTED)
  return started
}

export function statuses({ state }: World): Readonly<Record<string, string>> {
  return Object.fromEntries(state.tasks.map(task => [task.spec.id, task.state.status]))
}

/** Order in which tasks were started, attempts of any number. */
export function startOrder({ entries }: World): readonly string[] {
  return entries.flatMap(entry => entry.kind === 'attempt-started' ? [`${entry.task}/${entry.attempt}`] : [])
}

/** The kinds of entries about one task, in order. */
export function kindsOf({ entries }: World, task: string): readonly string[] {
  return entries.flatMap(entry => 'task' in entry && entry.task === task ? [entry.kind] : [])
}

function launchesOf(state: RunState, task: string): number {
  const status = state.byId.get(task)?.state
  return status?.status === 'active' ? status.attempt.launches.launches.length : 0
}

function sameEffect(left: Effect, right: Effect): boolean {
  if (left.kind !== right.kind) return false
  if (!('attempt' in left) || !('attempt' in right)) return left.kind === 'end-attempts' && right.kind === 'end-attempts' && left.how === right.how
  const roundOf = (effect: Effect): number => 'round' in effect ? effect.round : 0
  return left.task === right.task && left.attempt === right.attempt && roundOf(left) === roundOf(right)
}
