/** Fold of launch facts into the launches of one attempt. The same fold serves the run state and the executor, so both count alike. */
import { assertNever } from '../errors.ts'
import type { AttemptLaunches, LaunchFact, LaunchState } from './attempt-types.ts'

export function newLaunches(): AttemptLaunches {
  return { launches: [], stalledRestarts: 0, freshSessions: 0, engineRelaunches: 0, externalKills: 0 }
}

/** Changes `attempt` in place. A fact about a launch that was never intended is ignored. */
export function applyLaunchFact(attempt: AttemptLaunches, fact: LaunchFact): void {
  if (fact.kind === 'launch-intended') {
    attempt.launches.push(intended(fact))
    countRelaunch(attempt, fact)
    return
  }
  const launch = attempt.launches.find(candidate => candidate.launch === fact.launch)
  if (launch === undefined) return
  switch (fact.kind) {
    case 'launch-live':
      launch.status = 'live'
      launch.keeper = fact.keeper
      launch.child = fact.child
      return
    case 'launch-adopted':
      launch.status = 'live'
      launch.child = fact.child ?? launch.child
      launch.adopted += 1
      return
    case 'launch-first-record':
      launch.firstRecord = true
      attempt.engineRelaunches = 0
      return
    case 'launch-ended':
      launch.status = 'ended'
      launch.end = fact.end
      launch.tree = fact.tree
      return
    case 'launch-swept':
      launch.status = 'swept'
      launch.swept = fact.result
      return
    case 'launch-spawn-failed':
      launch.status = 'swept'
      return
    case 'warning':
      return
    default:
      assertNever(fact)
  }
}

function intended(fact: Extract<LaunchFact, { kind: 'launch-intended' }>): LaunchState {
  const { launch, mode, reason, sessionId, marker, dir } = fact
  return {
    launch, mode, reason, sessionId, marker, dir,
    status: 'intended', keeper: null, child: null, adopted: 0, firstRecord: false, end: null, tree: null, swept: null,
  }
}

function countRelaunch(attempt: AttemptLaunches, fact: Extract<LaunchFact, { kind: 'launch-intended' }>): void {
  switch (fact.reason) {
    case 'first':
      return
    case 'stalled':
    case 'overrun':
      attempt.stalledRestarts += 1
      return
    case 'resume-refused':
      attempt.freshSessions += 1
      return
    case 'engine-restart':
      attempt.engineRelaunches += 1
      return
    case 'killed-externally':
      attempt.externalKills += 1
      return
    default:
      assertNever(fact.reason)
  }
}
