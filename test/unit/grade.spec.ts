import { describe, expect, it } from 'vitest'
import type { Check } from '../../src/core/evidence-types.ts'
import { countTests } from '../../src/supervision/count-tests.ts'
import { gradeCheck, type CheckFacts, type Graded } from '../../src/supervision/grade.ts'

type GradedCheck = Parameters<typeof gradeCheck>[0]

const TEST_CHECK: GradedCheck = { role: 'test', argv: ['npm', 'run', 'test'], skipReason: null, timeoutMs: 1000, expectTests: null }

function grade(facts: Partial<CheckFacts>, check: Partial<Check> = {}): Graded {
  return gradeCheck({ ...TEST_CHECK, ...check }, { exitCode: 0, signal: null, timedOut: false, spawnError: null, output: '', ...facts })
}

/** Real summaries of runners that ran no test and still exit 0. */
const RAN_NOTHING: Readonly<Record<string, string>> = {
  'vitest, no files': '\nNo test files found, exiting with code 0\n\nfilter: nomatch\n',
  'vitest, all skipped, coloured': '\u001B[2m Test Files \u001B[22m 1 skipped (1)\n\u001B[2m      Tests \u001B[22m \u001B[33m1 skipped\u001B[39m\u001B[90m (1)\u001B[39m\n',
  'vitest, no tests': ' Test Files  1 passed (1)\n      Tests  no tests\n',
  'jest, none found': 'No tests found, exiting with code 0\n',
  'jest, all skipped': 'Test Suites: 1 skipped, 0 of 1 total\nTests:       2 skipped, 2 total\nSnapshots:   0 total\n',
  'node:test, a file without tests': '✔ empty.test.js (40.231413ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ skipped 0\n',
  'node:test as TAP, a file without tests': 'TAP version 13\n# Subtest: empty.test.js\nok 1 - empty.test.js\n  ---\n1..1\n# tests 1\n# pass 1\n# fail 0\n',
  'node:test, nothing': 'ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\n',
  'node:test, all skipped': '﹣ y (0.18ms) # SKIP\nℹ tests 1\nℹ pass 0\nℹ fail 0\nℹ skipped 1\n',
  'TAP plan of none': 'TAP version 13\n1..0\n',
  'TAP, all skipped': 'TAP version 13\nok 1 - a # SKIP later\n1..1\n',
  'mocha': '\n\n  0 passing (1ms)\n',
  'pytest, none': '============ no tests ran in 0.01s ============\n',
  'pytest, all skipped': '===== 2 skipped in 0.02s =====\n',
  'unittest': '----------\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n',
  'go, no files': '?   \texample.com/a\t[no test files]\n',
  'go, no match': 'testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.002s [no tests to run]\n',
  'cargo': 'running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n',
  'plain words': '> app@1.0.0 test\n> node test.js\n\n0 passed\n',
  'plain words, none found': 'No tests found.\n',
}

const RAN_SOME: Readonly<Record<string, readonly [string, number]>> = {
  'vitest': [' Test Files  2 passed (2)\n      Tests  3 passed | 1 skipped (4)\n', 3],
  'vitest in one package of two': [' No test files found, exiting with code 0\n      Tests  3 passed (3)\n', 3],
  'jest': ['Tests:       1 failed, 1 skipped, 3 passed, 5 total\n', 4],
  'node:test': ['✔ z (0.98ms)\n✔ empty.test.js (40.2ms)\nℹ tests 5\nℹ pass 4\nℹ fail 0\n', 3],
  'node:test as TAP': ['TAP version 13\nok 1 - z\n1..1\n# tests 1\n# pass 1\n# fail 0\n', 1],
  'TAP without a summary': ['1..3\nok 1\nnot ok 2\nok 3 # skip\n', 2],
  'mocha': ['\n  3 passing (5ms)\n  1 pending\n  1 failing\n', 4],
  'pytest': ['===== 3 passed, 1 skipped in 0.12s =====\n', 3],
  'unittest': ['Ran 4 tests in 0.001s\n\nOK\n', 4],
  'go -v': ['=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nok  \tx\t0.1s\n', 2],
  'cargo, two crates': ['test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n', 5],
  'bun': [' 3 pass\n 0 fail\nRan 3 tests across 1 files. [10.00ms]\n', 3],
  'deno': ['ok | 3 passed | 0 failed (5ms)\n', 3],
  'plain words': ['3 tests passed\n', 3],
}

/** Nothing to count: the grade must rest on the exit alone. */
const SAYS_NO_NUMBER: readonly string[] = [
  '', 'Done in 1.24s.\n', 'ok  \texample.com/a\t0.10s\n?   \texample.com/b\t[no test files]\n', 'ok  \texample.com/a\t(cached)\n',
  'Tests are fine\n', 'passed everything\n', 'Time: 0 passed minutes\n', 'Checked 12 files in 20ms. No fixes applied.\n',
]

/** Runners whose exit code was lost on the way (`|| true`, a pipe, a wrapper): they said that something failed, and the check still exits 0. */
const SAID_NO: Readonly<Record<string, string>> = {
  'vitest': ' Test Files  1 failed | 1 passed (2)\n      Tests  2 failed | 3 passed (5)\n',
  'vitest, a file that does not load': ' Test Files  1 failed | 1 passed (2)\n      Tests  3 passed (3)\n',
  'vitest, unhandled errors': '      Tests  1 passed (1)\n     Errors  1 error\n',
  'jest': 'Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n',
  'jest, a suite that does not run': 'Test Suites: 1 failed, 1 passed, 2 total\nTests:       2 passed, 2 total\n',
  'node:test': 'ℹ tests 2\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\n',
  'node:test, cancelled': 'ℹ tests 2\nℹ pass 1\nℹ fail 0\nℹ cancelled 1\n',
  'node:test as TAP': 'TAP version 13\nok 1 - z\n1..2\n# tests 2\n# pass 1\n# fail 1\n',
  'TAP without a summary': 'TAP version 13\nok 1\nnot ok 2 - y\n1..2\n',
  'mocha': '\n  3 passing (1ms)\n  1 failing\n',
  'pytest': '========= 1 failed, 3 passed in 0.12s =========\n',
  'pytest, errors': '=== 3 passed, 1 error in 0.01s ===\n',
  'pytest -q': '1 failed, 3 passed in 0.12s\n',
  'unittest': 'Ran 3 tests in 0.000s\n\nFAILED (failures=1)\n',
  'go': '--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\n',
  'cargo': 'test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n',
  'ava': '  1 test failed\n  3 tests passed\n',
  'bun': ' 2 pass\n 1 fail\nRan 3 tests across 1 file. [1ms]\n',
  'deno': 'FAILED | 1 passed | 1 failed (1ms)\n',
  'playwright': '  1 failed\n    a.spec.ts:3:1 › x\n  2 passed (1.2s)\n',
  'rspec': '3 examples, 1 failure\n',
  'maven': '[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n',
  'phpunit': 'FAILURES!\nTests: 3, Assertions: 3, Failures: 1.\n',
  'dotnet': 'Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3\n',
  'karma': 'Chrome 120: Executed 3 of 3 (1 FAILED) (0.001 secs / 0 secs)\n',
  'ctest': '50% tests passed, 1 tests failed out of 2\n',
  'typescript': 'src/a.ts(1,7): error TS2322: Type x\n',
  'eslint': '✖ 3 problems (2 errors, 1 warning)\n',
  'plain words': '3 passed, 1 failed\n',
}

/** Words about failures that are no failure. */
const SAID_NO_SUCH_THING: readonly string[] = [
  '      Tests  3 passed | 1 expected fail (4)\n', 'ℹ fail 0\nℹ pass 1\nℹ cancelled 0\nℹ todo 1\n', 'TAP version 13\nnot ok 1 - later # TODO\nok 2\n1..2\n',
  '===== 3 passed, 1 xfailed, 2 warnings in 0.12s =====\n', 'test result: ok. 5 passed; 0 failed; 0 ignored\n', ' 3 pass\n 0 fail\nRan 3 tests across 1 files. [1ms]\n',
  'ok | 3 passed | 0 failed (5ms)\n', '3 examples, 0 failures, 1 pending\n', '[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n',
  '✔ says that 1 test failed\nℹ pass 1\n', '✖ 2 problems (0 errors, 2 warnings)\n', 'Passed!  - Failed:     0, Passed:     2\n', '  1 flaky\n  2 passed (1s)\n', '3 passed, 0 failed\n',
  'stdout | a.test.ts > logs\nrequest failed, 1 failed attempt\n      Tests  1 passed (1)\n',
]

describe('counting tests', () => {
  it.each(Object.entries(RAN_NOTHING))('finds that nothing ran: %s (T9)', (_, output) => {
    expect(countTests(output)).toBe(0)
  })
  it.each(Object.entries(RAN_SOME))('counts what ran and leaves out what was skipped: %s', (_, [output, tests]) => {
    expect(countTests(output)).toBe(tests)
  })
  it.each(SAYS_NO_NUMBER)('does not guess over %j', output => {
    expect(countTests(output)).toBe(null)
  })
})

describe('the grade of a check', () => {
  it('is passed on exit 0, with the number of tests where it is known', () => {
    expect(grade({})).toEqual({ grade: 'passed', reason: 'exit 0', tests: null })
    expect(grade({ output: '1 passed\n' })).toEqual({ grade: 'passed', reason: 'exit 0, 1 test ran', tests: 1 })
  })

  it('is vacuous when exit 0 ran no test, unless an empty run is expected (T9)', () => {
    expect(grade({ output: '0 passed\n' })).toEqual({ grade: 'vacuous', reason: 'exit 0, but no test ran', tests: 0 })
    expect(grade({ output: '0 passed\n' }, { role: 'extra' }).grade).toBe('vacuous')
    expect(grade({ output: '0 passed\n' }, { expectTests: 0 }).grade).toBe('passed')
    expect(grade({ output: '0 passed\n' }, { role: 'lint' }).grade).toBe('passed')
  })

  it('is vacuous when fewer tests ran than expected, or when their number is unknown (T9)', () => {
    expect(grade({ output: '4 passed\n' }, { expectTests: 4 }).grade).toBe('passed')
    expect(grade({ output: '3 passed\n' }, { expectTests: 4 })).toEqual({ grade: 'vacuous', reason: 'exit 0, but only 3 tests ran; 4 are expected', tests: 3 })
    expect(grade({ output: 'fine\n' }, { expectTests: 4 })).toEqual({
      grade: 'vacuous', reason: 'exit 0, but the output does not say how many tests ran; 4 are expected', tests: null,
    })
  })

  it.each(Object.entries(SAID_NO))('is vacuous on exit 0 when the output itself says that something failed: %s (T9)', (_, output) => {
    const { grade: found, reason } = grade({ output })
    expect([found, reason.startsWith('exit 0, but the output says: ')]).toEqual(['vacuous', true])
  })

  it.each(SAID_NO_SUCH_THING)('reads no failure into %j', output => {
    expect(grade({ output }).grade).toBe('passed')
  })

  it('is failed on any other exit or a signal, whatever the output says (R-39)', () => {
    expect(grade({ exitCode: 1, output: 'all 9 passed\n' })).toEqual({ grade: 'failed', reason: 'exit 1', tests: null })
    expect(grade({ exitCode: 5, output: '= no tests ran in 0.01s =\n' })).toEqual({ grade: 'failed', reason: 'exit 5, no test ran', tests: 0 })
    expect(grade({ exitCode: null, signal: 'SIGSEGV' })).toEqual({ grade: 'failed', reason: 'ended by SIGSEGV', tests: null })
    expect(grade({ exitCode: 2, output: 'expected "sh: x: not found" to be absent\n' }).grade).toBe('failed')
  })

  it('is timed-out when we ended it, whatever it exited with (R-37)', () => {
    expect(grade({ timedOut: true, exitCode: 0, output: '3 passed\n' })).toEqual({ grade: 'timed-out', reason: 'still running after 1000 ms, ended', tests: null })
  })

  it('is skipped with the reason when there is nothing to run (R-93)', () => {
    expect(grade({ exitCode: null }, { argv: null, skipReason: 'package.json has no script "test"' })).toEqual({
      grade: 'skipped', reason: 'package.json has no script "test"', tests: null,
    })
  })

  it.each<readonly [string, Partial<CheckFacts>]>([
    ['the program can not be started', { exitCode: null, spawnError: { reason: 'not-found', message: 'pnpm was not found', key: 'k' } }],
    ['npm passes on 127', { exitCode: 127, output: '> app@1.0.0 test\n> vitest run\n\nsh: 1: vitest: not found\n' }],
    ['bash says it', { exitCode: 127, output: 'bash: line 1: jest: command not found\n' }],
    ['it may not be executed', { exitCode: 126, output: 'sh: 1: ./run.sh: Permission denied\n' }],
    ['pnpm turns 127 into 1', { exitCode: 1, output: 'sh: 1: vitest: not found\n\u2009ELIFECYCLE\u2009 Command failed.\n' }],
    ['npm has no such script', { exitCode: 1, output: 'npm error Missing script: "test"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\n' }],
    ['pnpm has no such script', { exitCode: 1, output: '\u2009ERR_PNPM_NO_SCRIPT\u2009 Missing script: test\n' }],
    ['yarn has no such script', { exitCode: 1, output: 'yarn run v1.22.22\nerror Command "test" not found.\n' }],
    ['bun has no such script', { exitCode: 1, output: 'error: Script not found "test"\n' }],
  ])('is unrunnable, an error of the judge, when %s', (_, facts) => {
    expect(grade(facts)).toMatchObject({ grade: 'unrunnable', tests: null })
  })
})

describe('counting in hostile output', () => {
  it.each(['\n', ' ', '\t\n', 'ok\n', '# ', '1 passed ', 'ok | 1 passed in '])('stays quick over 256 KiB of %j', piece => {
    const startedAt = performance.now()
    countTests(piece.repeat(256 * 1024 / piece.length))
    expect(performance.now() - startedAt).toBeLessThan(3000)
  })
})
