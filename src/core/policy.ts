/**
 * What may follow from a verdict, and what follows when no advisor is asked (DESIGN 5.9). Pure.
 * Facts bound every decision: nobody accepts over a red required check, whoever asks.
 */
import { assertNever } from '../errors.ts'
import type { AttemptOutcome } from './attempt-types.ts'
import type { Decision, Evidence, FileEdit, Verdict } from './evidence-types.ts'
import type { AttemptState, RunState, TaskState } from './run-types.ts'
import { attemptLimit } from './run-state.ts'
import { splitFaults } from './split.ts'
import { redRequired, saying } from './verdict.ts'

export interface PolicyInput {
  readonly verdict: Verdict
  readonly outcome: AttemptOutcome
  readonly evidence: readonly Evidence[]
  readonly attemptsLeft: number
  /** `unchanged` verdicts of the task so far, this one included. */
  readonly unchanged: number
  readonly acceptUnverified: boolean
}

export type Legality = { readonly legal: true } | { readonly legal: false, readonly reason: string }

const LEGAL: Legality = { legal: true }

export function decideByPolicy(input: PolicyInput): Decision {
  const { verdict } = input
  switch (verdict.kind) {
    case 'verified':
      return { kind: 'accept', reason: verdict.reason }
    case 'unverified':
      return input.acceptUnverified
        ? { kind: 'accept', reason: `${verdict.reason} Accepted without evidence, since acceptUnverified is on.` }
        : { kind: 'escalate', reason: `${verdict.reason} acceptUnverified is off.` }
    case 'unchanged':
      return input.unchanged > 1
        ? { kind: 'escalate', reason: `${verdict.reason} It is the second attempt that did so.` }
        : retryOrEscalate(input, `${verdict.reason}\nChange the files the task asks for, or say in your report why nothing has to change.`)
    case 'rejected':
      return retryOrEscalate(input, rejectionGuidance(input))
    default:
      return assertNever(verdict.kind)
  }
}

function retryOrEscalate(input: PolicyInput, guidance: string): Decision {
  if (input.attemptsLeft <= 0) return { kind: 'escalate', reason: `${input.verdict.reason} No attempt is left.` }
  return {
    kind: 'retry',
    reason: input.verdict.reason,
    guidance,
    ...input.outcome.kind === 'tainted' ? { freshTree: true } : {},
  }
}

/** The failing output, as the check showed it; the outcome when no check ran. */
function rejectionGuidance({ outcome, verdict, evidence }: PolicyInput): string {
  const red = redRequired(evidence)
  if (red.length === 0) return outcome.kind === 'succeeded' ? verdict.reason : endGuidance(outcome)
  return red.map(each => [`${each.command}: ${each.grade}. ${each.reason}`, each.tail.trimEnd()].filter(part => part !== '').join('\n')).join('\n\n')
}

/** How it ended, without what is for people only: a model that reads of a session and the command that opens it may open it. */
function endGuidance(outcome: AttemptOutcome): string {
  const clock = outcome.clock === null ? '' : `, by the ${outcome.clock} clock`
  const tool = outcome.lastTool === null ? '' : `, last tool ${outcome.lastTool}`
  return `The last attempt ended as ${outcome.kind}${clock}${tool}${saying(outcome)}.`
}

/** Whether the advisor may decide so on the open attempt of `task`. */
export function legality(decision: Decision, state: RunState, task: TaskState): Legality {
  const attempt = task.state.status === 'active' ? task.state.attempt : null
  if (attempt === null) return illegal('The task has no attempt to decide on.')
  switch (decision.kind) {
    case 'accept':
      return acceptLegality(attempt, state.policy.acceptUnverified)
    case 'retry':
    case 'escalate':
      return LEGAL
    case 'patch':
      return patchLegality(attempt, decision.edits)
    case 'split': {
      const faults = splitFaults(state, task, decision.tasks)
      return faults.length === 0 ? LEGAL : illegal(faults.join(' '))
    }
    default:
      return assertNever(decision)
  }
}

function acceptLegality(attempt: AttemptState, acceptUnverified: boolean): Legality {
  const { verdict, outcome, evidence } = attempt
  const red = redRequired(evidence)
  if (red.length > 0) return illegal(`accept is not possible while required checks are red: ${red.map(each => each.check).join(', ')}.`)
  if (verdict === null || verdict.judgeError || outcome === null) return illegal('accept is not possible before the attempt was judged.')
  if (verdict.kind === 'rejected') return illegal(`accept is not possible: ${verdict.reason}`)
  const proven = evidence.some(each => each.required && each.grade === 'passed')
  if (verdict.kind === 'unverified' && !acceptUnverified) return illegal('accept is not possible without evidence while acceptUnverified is off.')
  if (verdict.kind === 'unchanged' && !proven && !acceptUnverified) return illegal('accept is not possible: nothing changed and no required check passed.')
  return LEGAL
}

function patchLegality(attempt: AttemptState, edits: readonly FileEdit[]): Legality {
  if (attempt.outcome?.kind !== 'succeeded') return illegal('patch is not possible: the attempt did not end by itself, so its tree is not a finished piece of work.')
  if (edits.length === 0) return illegal('The patch holds no edits.')
  const outside = edits.filter(edit => !isInside(edit.path))
  return outside.length === 0 ? LEGAL : illegal(`The patch names files outside the work tree: ${outside.map(edit => JSON.stringify(edit.path)).join(', ')}.`)
}

/** Relative, forward slashes, no way out and none into `.git`. Links are the patcher's to refuse: they are a fact of the disk. */
function isInside(path: string): boolean {
  if (path === '' || path.includes('\\') || path.includes('\0') || path.startsWith('/') || /^[A-Za-z]:/.test(path)) return false
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git')
}

/** Whether a person may accept the newest attempt of an escalated task, with a note. Never over a red required check (SEMANTICS 3). */
export function personMayAccept(task: TaskState): Legality {
  const attempt = task.last
  if (attempt === null || attempt.workspace === null) return illegal('No attempt of the task left anything to accept.')
  if (attempt.outcome?.kind === 'tainted') return illegal('The attempt is tainted: processes it started could not be ended.')
  const red = redRequired(attempt.evidence)
  return red.length === 0 ? LEGAL : illegal(`Required checks are red: ${red.map(each => each.check).join(', ')}.`)
}

export function attemptsLeft(task: TaskState, state: RunState): number {
  return Math.max(0, attemptLimit(task, state.policy) - task.attempts)
}

function illegal(reason: string): Legality {
  return { legal: false, reason }
}
