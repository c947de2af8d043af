/**
 * From the facts of one finished check to its grade. Pure. A red exit never becomes anything greener, and a green exit is worth nothing
 * when no test ran, or when the output itself says that something failed. Does not know whether a check is required: that is the verdict's business.
 */
import { stripVTControlCharacters } from 'node:util'
import type { SpawnFailure } from '../core/attempt-types.ts'
import type { Check, Grade } from '../core/evidence-types.ts'
import { countTests } from './count-tests.ts'
import { saidFailure } from './said-failures.ts'

export interface CheckFacts {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly spawnError: SpawnFailure | null
  /** The end of the output. */
  readonly output: string
}

export interface Graded {
  readonly grade: Grade
  /** One sentence. */
  readonly reason: string
  readonly tests: number | null
}

export function gradeCheck(check: Pick<Check, 'role' | 'argv' | 'skipReason' | 'timeoutMs' | 'expectTests'>, facts: CheckFacts): Graded {
  const graded = (grade: Grade, reason: string, tests: number | null = null): Graded => ({ grade, reason, tests })
  if (check.argv === null) return graded('skipped', check.skipReason ?? 'there is nothing to run')
  if (facts.spawnError !== null) return graded('unrunnable', facts.spawnError.message)
  if (facts.timedOut) return graded('timed-out', `still running after ${check.timeoutMs} ms, ended`)
  const output = stripVTControlCharacters(facts.output)
  const unrunnable = facts.exitCode === 0 ? null : cannotRun(facts.exitCode, output)
  if (unrunnable !== null) return graded('unrunnable', unrunnable)
  const tests = check.role === 'test' || check.role === 'extra' ? countTests(output) : null
  if (facts.exitCode === null) return graded('failed', `ended by ${facts.signal ?? 'an unknown signal'}`, tests)
  if (facts.exitCode !== 0) return graded('failed', `exit ${facts.exitCode}${tests === 0 ? ', no test ran' : ''}`, tests)
  const said = saidFailure(output)
  if (said !== null) return graded('vacuous', `exit 0, but the output says: ${said}`, tests)
  const missing = missingTests(check.expectTests, tests)
  if (missing !== null) return graded('vacuous', missing, tests)
  return graded('passed', tests === null ? 'exit 0' : `exit 0, ${plural(tests)}`, tests)
}

function missingTests(expected: number | null, tests: number | null): string | null {
  if (expected === 0) return null
  if (tests === 0) return 'exit 0, but no test ran'
  if (expected === null || (tests !== null && tests >= expected)) return null
  const seen = tests === null ? 'the output does not say how many tests ran' : `only ${plural(tests)}`
  return `exit 0, but ${seen}; ${expected} are expected`
}

function plural(tests: number): string {
  return tests === 1 ? '1 test ran' : `${tests} tests ran`
}

const MISSING_SCRIPT = [
  /^npm (?:error|ERR!) Missing script: .*$/mu,
  /^.*ERR_PNPM_NO_SCRIPT.*$/mu,
  /^error Command ".*" not found\.$/mu,
  /^Usage Error: Couldn't find a script named .*$/mu,
  /^error: Script not found ".*"$/mu,
]

const LAST_LINES = 12
const SHELL_NOT_FOUND = /^(?:\S*sh|\/bin\/\w+): (?:(?:line )?\d+: )?\S+: (?:command )?not found$/u

/** Null = the command itself ran and said no. pnpm ends with 1 where its shell ended with 127. */
function cannotRun(exitCode: number | null, output: string): string | null {
  const lines = output.trimEnd().split('\n').slice(-LAST_LINES).map(line => line.trim())
  const notFound = lines.find(line => SHELL_NOT_FOUND.test(line))
  if (exitCode === 127) return `exit 127, a command was not found${notFound === undefined ? '' : `: ${notFound}`}`
  if (exitCode === 126) return 'exit 126, a command could not be executed'
  if (notFound !== undefined && lines.some(line => line.includes('ELIFECYCLE'))) return `a command was not found: ${notFound}`
  const missing = MISSING_SCRIPT.map(pattern => pattern.exec(lines.join('\n'))?.[0]).find(line => line !== undefined)
  return missing ?? null
}
