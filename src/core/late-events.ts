/** Which event fits which moment of an attempt. Everything else is late: an older attempt, an older launch, a phase that is over. */
import { assertNever } from '../errors.ts'
import type { LaunchFact } from './attempt-types.ts'
import type { AttemptState, RunEvent, TaskState } from './run-types.ts'

type AttemptEvent = Extract<RunEvent, { readonly task: string, readonly attempt: number }>

export function isLate(task: TaskState, attempt: AttemptState, event: AttemptEvent): boolean {
  if (event.attempt !== attempt.attempt) return true
  const landing = task.state.status === 'landing'
  if (event.type === 'landed' || event.type === 'land-refused') return !landing
  if (landing) return true
  switch (event.type) {
    case 'workspace-ready':
      return attempt.phase !== 'preparing'
    case 'workspace-failed':
      // A suspended attempt is prepared again by the next engine: that this one gave up is no failure.
      return attempt.phase !== 'preparing' || attempt.suspended
    case 'launch-fact':
      return attempt.phase !== 'executing' || attempt.suspended || isLateFact(attempt, event.fact)
    case 'attempt-outcome':
      return attempt.phase !== 'executing' || attempt.suspended
    case 'evidence':
    case 'judged':
      return attempt.phase !== 'judging'
    case 'advised':
      return attempt.phase !== 'deciding' || attempt.decision !== null || attempt.verdict === null || event.round !== task.rounds + 1
    case 'patch-planned':
      return attempt.phase !== 'deciding' || attempt.decision?.kind !== 'patch' || attempt.patch !== null || event.round !== task.rounds
    case 'patched':
      if (event.result === 'applied' && attempt.patch === null) return true
      return attempt.phase !== 'deciding' || attempt.decision?.kind !== 'patch' || event.round !== task.rounds
    default:
      return assertNever(event)
  }
}

/** Only the newest launch is alive; each of its stages is told once. */
function isLateFact({ launches: { launches } }: AttemptState, fact: LaunchFact): boolean {
  const newest = launches.at(-1)
  if (fact.kind === 'warning') return false
  if (fact.kind === 'launch-intended') return fact.launch !== (newest?.launch ?? 0) + 1
  if (newest === undefined || fact.launch !== newest.launch) return true
  switch (fact.kind) {
    case 'launch-live':
    case 'launch-adopted':
    case 'launch-ended':
      return newest.status === 'ended' || newest.status === 'swept'
    case 'launch-first-record':
      return newest.firstRecord
    case 'launch-swept':
    case 'launch-spawn-failed':
      return newest.status === 'swept'
    default:
      return assertNever(fact)
  }
}
