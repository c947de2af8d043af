/**
 * Judgement over facts: outcome, evidence and whether the tree changed. Pure, and the same for every executor and every judge.
 * Absence is no pass: skipped and vacuous checks prove nothing. What follows from a verdict is `policy.ts`.
 */
import { assertNever } from '../errors.ts'
import type { AttemptOutcome } from './attempt-types.ts'
import type { Evidence, Grade, Verdict, VerdictKind } from './evidence-types.ts'
import type { TaskSpec } from './graph-types.ts'

export interface Judgement {
  readonly kind: VerdictKind
  /** One sentence naming the outcome or the checks that decided. */
  readonly reason: string
  readonly judgeError: boolean
}

export type GradeMeaning = 'green' | 'red' | 'no-evidence' | 'judge-error'

/** What a grade proves. `flaky` and `red-before` prove nothing about the attempt; `tampered` speaks against it. */
function gradeMeaning(grade: Grade): GradeMeaning {
  switch (grade) {
    case 'passed':
      return 'green'
    case 'failed':
    case 'timed-out':
    case 'tampered':
      return 'red'
    case 'skipped':
    case 'vacuous':
    case 'flaky':
    case 'red-before':
      return 'no-evidence'
    case 'unrunnable':
      return 'judge-error'
    default:
      return assertNever(grade)
  }
}

export function redRequired(evidence: readonly Evidence[]): readonly Evidence[] {
  return evidence.filter(each => each.required && gradeMeaning(each.grade) === 'red')
}

/** An unchanged tree speaks against the attempt: the executor is an agent and the task is not declared to change nothing (`paths: []`). */
export function expectsChange(task: TaskSpec, agent: boolean): boolean {
  return agent && task.paths?.length !== 0
}

/**
 * @param changed the tree after the attempt differs from the tree before it
 * @param changeExpected see `expectsChange`
 */
export function judgeVerdict(outcome: AttemptOutcome, evidence: readonly Evidence[], changed: boolean, changeExpected: boolean): Judgement {
  if (outcome.kind !== 'succeeded') return judgement('rejected', outcomeReason(outcome))
  const required = evidence.filter(each => each.required)
  const red = redRequired(evidence)
  if (red.length > 0) return judgement('rejected', `Required checks are red: ${list(red)}.`)
  const unrunnable = required.filter(each => gradeMeaning(each.grade) === 'judge-error')
  if (unrunnable.length > 0) return judgement('unverified', `Checks could not be run: ${list(unrunnable)}.`, true)
  if (changeExpected && !changed) return judgement('unchanged', 'The attempt changed no file.')
  return judgeGreen(required)
}

/** A role without a script is skipped and may be missing beside others that passed; a check that ran and proved nothing may not. */
function judgeGreen(required: readonly Evidence[]): Judgement {
  const passed = required.filter(each => each.grade === 'passed')
  const empty = required.filter(each => gradeMeaning(each.grade) === 'no-evidence' && each.grade !== 'skipped')
  if (empty.length > 0) return judgement('unverified', `Required checks proved nothing: ${list(empty)}.`)
  if (passed.length > 0) return judgement('verified', `Every required check passed: ${passed.map(each => each.check).join(', ')}.`)
  if (required.length === 0) return judgement('unverified', 'No required check is declared.')
  return judgement('unverified', `No required check ran: ${list(required)}.`)
}

/** The verdict over an attempt that is not judged by checks at all. */
export function verdictOfOutcome(outcome: AttemptOutcome, tree: string): Verdict {
  return { kind: 'rejected', reason: outcomeReason(outcome), judgeError: false, evidence: [], findings: [], tree }
}

function outcomeReason(outcome: AttemptOutcome): string {
  return `The attempt ended as ${outcome.kind}${saying(outcome)}: ${outcome.message}`
}

const LONGEST_QUOTE = 300

/** What the child itself said went wrong, quoted on one line; empty when it reported no error. A person needs it to tell a wrong key from a wrong model name. */
export function saying({ result }: AttemptOutcome): string {
  if (result === null) return ''
  const said = result.errors.length > 0 ? result.errors.join('; ') : result.isError ? result.text : ''
  const line = said.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  if (line === '') return ''
  return `, saying ${JSON.stringify(line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line)}`
}

function judgement(kind: VerdictKind, reason: string, judgeError = false): Judgement {
  return { kind, reason, judgeError }
}

function list(evidence: readonly Evidence[]): string {
  return evidence.map(each => `${each.check} (${each.grade})`).join(', ')
}
