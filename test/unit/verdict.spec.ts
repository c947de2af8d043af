import { describe, expect, test } from 'vitest'
import type { OutcomeKind } from '../../src/core/attempt-types.ts'
import type { Evidence } from '../../src/core/evidence-types.ts'
import { expectsChange, judgeVerdict } from '../../src/core/verdict.ts'
import { evidence, outcome, reported, spec } from '../support/core-facts.ts'

const done = outcome('succeeded')

describe('the verdict', () => {
  const rows: readonly [string, readonly Evidence[], boolean, ReturnType<typeof judgeVerdict>][] = [
    ['every required check passed', [evidence('lint', 'passed'), evidence('test', 'passed')], true,
      { kind: 'verified', reason: 'Every required check passed: lint, test.', judgeError: false }],
    ['a role without a script is no red check beside a passed one (R-36)', [evidence('lint', 'skipped'), evidence('test', 'passed')], true,
      { kind: 'verified', reason: 'Every required check passed: test.', judgeError: false }],
    ['a red check that is not required rejects nothing', [evidence('style', 'failed', { required: false }), evidence('test', 'passed')], true,
      { kind: 'verified', reason: 'Every required check passed: test.', judgeError: false }],
    ['a required check failed', [evidence('lint', 'passed'), evidence('test', 'failed')], true,
      { kind: 'rejected', reason: 'Required checks are red: test (failed).', judgeError: false }],
    ['a required check timed out (R-37)', [evidence('test', 'timed-out')], true,
      { kind: 'rejected', reason: 'Required checks are red: test (timed-out).', judgeError: false }],
    ['a red check decides over one that can not be run', [evidence('lint', 'unrunnable'), evidence('test', 'failed')], true,
      { kind: 'rejected', reason: 'Required checks are red: test (failed).', judgeError: false }],
    ['a required check can not be run (R-93)', [evidence('lint', 'passed'), evidence('test', 'unrunnable')], true,
      { kind: 'unverified', reason: 'Checks could not be run: test (unrunnable).', judgeError: true }],
    ['no check is declared (R-35)', [], true, { kind: 'unverified', reason: 'No required check is declared.', judgeError: false }],
    ['every check was skipped (R-35, R-93)', [evidence('lint', 'skipped'), evidence('test', 'skipped')], true,
      { kind: 'unverified', reason: 'No required check ran: lint (skipped), test (skipped).', judgeError: false }],
    ['a check ran nothing, beside one that passed (T9)', [evidence('lint', 'passed'), evidence('test', 'vacuous')], true,
      { kind: 'unverified', reason: 'Required checks proved nothing: test (vacuous).', judgeError: false }],
    ['only checks that are not required passed', [evidence('style', 'passed', { required: false })], true,
      { kind: 'unverified', reason: 'No required check is declared.', judgeError: false }],
    ['nothing changed though the checks pass', [evidence('test', 'passed')], false,
      { kind: 'unchanged', reason: 'The attempt changed no file.', judgeError: false }],
    ['nothing changed and a check is red', [evidence('test', 'failed')], false,
      { kind: 'rejected', reason: 'Required checks are red: test (failed).', judgeError: false }],
  ]
  test.each(rows)('when %s', (_, checks, changed, expected) => {
    expect(judgeVerdict(done, checks, changed, true)).toEqual(expected)
  })

  test('lets a task that is to change nothing, or whose executor is no agent, leave the tree as it was', () => {
    expect([expectsChange(spec('a'), true), expectsChange(spec('a'), false), expectsChange(spec('a', [], { paths: [] }), true), expectsChange(spec('a', [], { paths: ['src'] }), true)])
      .toEqual([true, false, false, true])
    expect(judgeVerdict(done, [evidence('test', 'passed')], false, false).kind).toBe('verified')
  })

  test.each<readonly [string, Parameters<typeof reported>[0], string]>([
    ['the text of an error result', { isError: true, text: 'Failed to authenticate.\n API Error: 401' }, ', saying "Failed to authenticate. API Error: 401"'],
    ['the list of errors', { subtype: 'error_max_turns', isError: true, text: '', errors: ['Reached maximum number of turns (3)'] }, ', saying "Reached maximum number of turns (3)"'],
    ['no more than 300 characters', { isError: true, text: 'x'.repeat(400) }, `, saying "${'x'.repeat(300)}…"`],
    ['nothing of an answer that is no error', { stopReason: 'tool_use', text: 'I will' }, ''],
  ])('an attempt that ended as an error says so with %s', (_, over, said) => {
    expect(judgeVerdict(outcome('agent-error', { result: reported(over) }), [], true, true).reason).toBe(`The attempt ended as agent-error${said}: outcome agent-error`)
  })

  test.each<OutcomeKind>(['agent-error', 'no-result', 'result-oversize', 'stalled', 'overrun', 'flooded', 'killed-externally', 'tainted'])(
    'rejects an attempt that ended as %s, green checks or not',
    kind => {
      expect(judgeVerdict(outcome(kind), [evidence('test', 'passed')], true, true))
        .toEqual({ kind: 'rejected', reason: `The attempt ended as ${kind}: outcome ${kind}`, judgeError: false })
    },
  )
})
