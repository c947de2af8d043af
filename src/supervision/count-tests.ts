/**
 * How many tests a runner says it ran, read from its output (T9). Pure. A table of runners: each row knows the summary lines of one of them
 * and what it prints when it found nothing. Skipped tests did not run. Unknown output gives null, never a guess.
 */
import { stripVTControlCharacters } from 'node:util'

interface RunnerRow {
  readonly runner: string
  /** Tests that ran by this runner's own words; null when none of its lines is there. */
  readonly count: (output: string) => number | null
  /** It said that there was nothing to run. */
  readonly nothing?: RegExp
}

/** Sums the numbers before the words that mean a test ran, over all summary lines. */
const summary = (line: RegExp, ran: RegExp): RunnerRow['count'] => output => {
  const lines = output.match(line)
  return lines === null ? null : sum(lines.flatMap(text => [...text.matchAll(ran)].map(found => Number(found[1]))))
}

/** Sums the first group over all matches. */
const total = (pattern: RegExp): RunnerRow['count'] => output => {
  const found = [...output.matchAll(pattern)]
  return found.length === 0 ? null : sum(found.map(match => Number(match[1])))
}

const VITEST_NOTHING = /^[ \t]*No test files found|^[ \t]*Tests {2}no tests/mu
const PYTEST_SUMMARY = /^=* ?\d+ (?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?)\b.* in [\d.]+s\b.*$/gmu
const PLAIN_SUMMARY = /^[ \t]*\d+ (?:tests? )?passed(?:, \d+ \w+)*[.!]?[ \t]*$/gmu
const PLAIN_NOTHING = /^[ \t]*no tests? (?:found|ran|to run)[.!]?[ \t]*$/imu

const RUNNERS: readonly RunnerRow[] = [
  { runner: 'vitest', count: summary(/^[ \t]*Tests {2}\d.*$/gmu, /(\d+) (?:passed|failed)/gu), nothing: VITEST_NOTHING },
  { runner: 'jest', count: summary(/^Tests: +\d.*total$/gmu, /(\d+) (?:passed|failed)/gu), nothing: /^No tests found/mu },
  { runner: 'node:test and tape', count: nodeTests },
  { runner: 'tap', count: tapTests, nothing: /^1\.\.0\b/mu },
  { runner: 'mocha', count: total(/^[ \t]+(\d+) (?:passing|failing)\b/gmu), nothing: /^Error: No test files found/mu },
  { runner: 'pytest', count: summary(PYTEST_SUMMARY, /(\d+) (?:passed|failed|xfailed|xpassed)/gu), nothing: /\bno tests ran\b|^collected 0 /mu },
  { runner: 'unittest', count: total(/^Ran (\d+) tests? in [\d.]+s$/gmu), nothing: /^NO TESTS RAN$/mu },
  { runner: 'go', count: goTests },
  { runner: 'cargo', count: summary(/^test result: .*$/gmu, /(\d+) (?:passed|failed)/gu) },
  { runner: 'ava', count: total(/^[ \t]+(\d+) tests? (?:passed|failed)$/gmu), nothing: /Couldn.t find any (?:files|tests)/u },
  { runner: 'bun', count: total(/^Ran (\d+) tests? across \d+ file/gmu), nothing: /^(?:error: )?(?:No tests found!|0 test files match)/mu },
  { runner: 'deno', count: summary(/^ok \| \d+ passed\b.*$/gmu, /(\d+) (?:passed|failed)/gu), nothing: /No test modules found/u },
  { runner: 'playwright', count: total(/^ {2}(\d+) (?:passed|failed)(?: \([\d.]+m?s\))?$/gmu), nothing: /^Error: No tests found$/mu },
  { runner: 'rspec', count: total(/^(\d+) examples?, \d+ failures?/gmu) },
  { runner: 'maven', count: total(/^(?:\[\w+\] )?Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: \d+$/gmu) },
  { runner: 'phpunit', count: total(/^(?:OK \(|Tests: )(\d+)(?: tests?)?,/gmu), nothing: /^No tests executed!$/mu },
  { runner: 'dotnet', count: summary(/^(?:Passed|Failed)! .*$/gmu, /(?:Passed|Failed): +(\d+)/gu), nothing: /^No test is available in /mu },
  { runner: 'plain words', count: summary(PLAIN_SUMMARY, /(\d+) (?:tests? )?(?:passed|failed)/gu), nothing: PLAIN_NOTHING },
]

/** `output` may carry colours and may be only the end of the whole; null = no runner was recognised. */
export function countTests(output: string): number | null {
  const text = stripVTControlCharacters(output).replaceAll('\r\n', '\n')
  const counts = RUNNERS.flatMap(row => row.count(text) ?? (row.nothing?.test(text) === true ? 0 : []))
  return counts.length === 0 ? null : Math.max(...counts)
}

/** A file without any test is reported as one passed test that carries the file's name. */
function nodeTests(output: string): number | null {
  const passed = [...output.matchAll(/^(?:ℹ|#) pass +(\d+)$/gmu)]
  if (passed.length === 0) return /^(?:ℹ|#) tests +0$/mu.test(output) ? 0 : null
  const ran = sum([...passed, ...output.matchAll(/^(?:ℹ|#) fail +(\d+)$/gmu)].map(match => Number(match[1])))
  const bareFiles = output.match(/^(?:✔ |ok \d+ - )\S+\.[cm]?[jt]sx?(?: \([\d.]+ms\))?$/gmu)?.length ?? 0
  return Math.max(0, ran - bareFiles)
}

/** Top-level test points, where the producer prints no summary of its own. */
function tapTests(output: string): number | null {
  if (!/^(?:TAP version \d+|1\.\.\d+)/mu.test(output) || /^# (?:pass|tests) /mu.test(output)) return null
  const points = output.match(/^(?:not )?ok\b.*$/gmu) ?? []
  return points.filter(point => !/# skip/iu.test(point)).length
}

/** Only `-v` names tests; a package that passed without saying how many ran is no number, and no zero either. */
function goTests(output: string): number | null {
  const named = output.match(/^[ \t]*--- (?:PASS|FAIL): /gmu)
  if (named !== null) return named.length
  if (/^ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))(?!.*\[no tests to run\])/mu.test(output)) return null
  return /^\?[ \t]+\S+[ \t]+\[no test files\]$|\[no tests to run\]$|^testing: warning: no tests to run$/mu.test(output) ? 0 : null
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((left, right) => left + right, 0)
}
