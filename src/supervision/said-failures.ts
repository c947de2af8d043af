/**
 * The line in which a tool itself says that something failed (T9). Pure. An exit code can be lost on the way (`|| true`, a pipe, a wrapper);
 * the summary is not. One row per tool, summary lines only: what tests print about failing is no failure.
 */
const SUMMARIES: readonly RegExp[] = [
  // vitest, jest
  /^[ \t]*(?:Tests|Test Files) {2}(?:.*\| )?[1-9]\d* failed\b.*$/mu,
  /^[ \t]*Errors {2}[1-9]\d* errors?$/mu,
  /^(?:Tests|Test Suites): +(?:.*, )?[1-9]\d* failed\b.*total$/mu,
  // node:test, tape
  /^(?:ℹ|#) (?:fail|cancelled) +[1-9]\d*$/mu,
  // mocha, ava, playwright, bun, deno
  /^[ \t]+[1-9]\d* failing$/mu,
  /^[ \t]+[1-9]\d* tests? failed$/mu,
  /^ {2}[1-9]\d* failed$/mu,
  /^ [1-9]\d* fail$/mu,
  /^FAILED \| \d+ passed\b.*$/mu,
  // pytest, unittest
  /^=* ?(?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s\b.*$/mu,
  /^FAILED \((?:failures|errors|unexpected successes)=.*\)$/mu,
  // go, cargo, rspec, maven, phpunit, dotnet
  /^FAIL(?:\t\S+.*)?$/mu,
  /^test result: FAILED\..*$/mu,
  /^\d+ examples?, [1-9]\d* failures?.*$/mu,
  /^(?:\[\w+\] )?Tests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9]).*$/mu,
  /^(?:FAILURES|ERRORS)!$/mu,
  /^Failed! .*$/mu,
  // karma, ctest
  /^.*Executed \d+ of \d+ .*\([1-9]\d* FAILED\).*$/mu,
  /^\d+% tests passed, [1-9]\d* tests? failed out of \d+$/mu,
  // typescript, eslint
  /^\S.*[(:]\d+[,:]\d+\)?(?::| -) error TS\d+: .*$/mu,
  /^✖ \d+ problems? \([1-9]\d* errors?, .*\)$/mu,
  // plain words
  /^[ \t]*\d+ (?:tests? )?passed, [1-9]\d* failed[.!]?[ \t]*$/mu,
]

const MAX_CHARS = 120

/** `output` without escape sequences. Null = no tool said so. */
export function saidFailure(output: string): string | null {
  const lines = output.replaceAll('\r\n', '\n')
  const found = SUMMARIES.map(pattern => pattern.exec(lines)?.[0]).find(line => line !== undefined) ?? bareTapFailure(lines)
  return found === null ? null : found.trim().slice(0, MAX_CHARS)
}

/** A top-level point that is red and not expected to be, where the producer prints no summary of its own. */
function bareTapFailure(output: string): string | null {
  if (!/^(?:TAP version \d+|1\.\.\d+)/mu.test(output) || /^# (?:pass|tests) /mu.test(output)) return null
  return (output.match(/^not ok\b.*$/gmu) ?? []).find(point => !/# (?:todo|skip)\b/iu.test(point)) ?? null
}
