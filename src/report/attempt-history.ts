/** What happened in one attempt and its launches; part of the history of a run (`history.ts`). */
import type { AttemptOutcome, LaunchEnd, LaunchMode, LaunchReason } from '../core/attempt-types.ts'
import type { AttemptKind, Entry } from '../core/entry-types.ts'
import type { Decision, DecisionSource, Evidence, Verdict } from '../core/evidence-types.ts'

export interface LaunchHistory {
  readonly launch: number
  readonly mode: LaunchMode
  readonly reason: LaunchReason
  readonly sessionId: string
  readonly dir: string
  readonly startedAt: string
  endedAt: string | null
  adopted: number
  end: LaunchEnd | null
  swept: 'clean' | 'tainted' | null
  spawnFailure: string | null
}

export interface DecisionHistory {
  readonly round: number
  readonly by: DecisionSource
  readonly decision: Decision
  readonly at: string
}

export interface AdviceHistory {
  readonly round: number
  readonly result: string
  readonly reason: string
  readonly askFile: string | null
  readonly answerFile: string | null
}

export interface AttemptHistory {
  readonly attempt: number
  readonly kind: AttemptKind
  readonly startedAt: string
  endedAt: string | null
  counted: boolean | null
  readonly launches: LaunchHistory[]
  outcome: AttemptOutcome | null
  readonly evidence: Evidence[]
  readonly verdicts: Verdict[]
  readonly advice: AdviceHistory[]
  readonly decisions: DecisionHistory[]
  readonly patches: { readonly round: number, readonly result: string, readonly reason: string }[]
}

export function newAttempt(attempt: number, kind: AttemptKind, at: string): AttemptHistory {
  return {
    attempt, kind, startedAt: at, endedAt: null, counted: null, launches: [], outcome: null, evidence: [], verdicts: [],
    advice: [], decisions: [], patches: [],
  }
}

export function applyToAttempt(attempt: AttemptHistory, at: string, entry: Entry): void {
  switch (entry.kind) {
    case 'attempt-ended':
      attempt.endedAt = at
      attempt.outcome = entry.outcome
      attempt.counted = entry.counted
      return
    case 'launch-intended': {
      const { launch, mode, reason, sessionId, dir } = entry
      attempt.launches.push({ launch, mode, reason, sessionId, dir, startedAt: at, endedAt: null, adopted: 0, end: null, swept: null, spawnFailure: null })
      return
    }
    case 'launch-adopted':
    case 'launch-ended':
    case 'launch-swept':
    case 'launch-spawn-failed':
      return applyToLaunch(attempt, at, entry)
    case 'check-evidence':
      attempt.evidence.push(entry.evidence)
      return
    case 'verdict':
      attempt.verdicts.push(entry.verdict)
      return
    case 'advice':
      attempt.advice.push({ round: entry.round, result: entry.result, reason: entry.reason, askFile: entry.askFile, answerFile: entry.answerFile })
      return
    case 'decision':
      attempt.decisions.push({ round: entry.round, by: entry.by, decision: entry.decision, at })
      return
    case 'patch-applied':
      attempt.patches.push({ round: entry.round, result: entry.result, reason: entry.reason })
      return
    default:
  }
}

type LaunchChange = Extract<Entry, { kind: 'launch-adopted' | 'launch-ended' | 'launch-swept' | 'launch-spawn-failed' }>

function applyToLaunch(attempt: AttemptHistory, at: string, entry: LaunchChange): void {
  const launch = attempt.launches.findLast(candidate => candidate.launch === entry.launch)
  if (launch === undefined) return
  switch (entry.kind) {
    case 'launch-adopted':
      launch.adopted += 1
      return
    case 'launch-ended':
      launch.endedAt = at
      launch.end = entry.end
      return
    case 'launch-swept':
      launch.swept = entry.result
      return
    case 'launch-spawn-failed':
      launch.endedAt = at
      launch.spawnFailure = entry.failure.message
      return
  }
}
