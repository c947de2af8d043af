import { describe, expect, test } from 'vitest'
import type { Decision } from '../../src/core/evidence-types.ts'
import type { PolicyInput } from '../../src/core/policy.ts'
import { decideByPolicy, legality } from '../../src/core/policy.ts'
import { foldEntries } from '../../src/core/apply-entry.ts'
import { evidence, graphOf, outcome, policy, reported, spec, verdict } from '../support/core-facts.ts'
import { startWorld } from '../support/core-world.ts'

const input = (over: Partial<PolicyInput>): PolicyInput => ({
  verdict: verdict('verified'), outcome: outcome('succeeded'), evidence: [], attemptsLeft: 2, unchanged: 0, acceptUnverified: false, ...over,
})

describe('the policy without an advisor (DESIGN 5.9)', () => {
  const red = [evidence('lint', 'passed'), evidence('test', 'failed', { command: 'npm run test', reason: 'exit code 1', tail: 'expected 2, got 3\n' })]
  const rows: readonly [string, Partial<PolicyInput>, Decision][] = [
    ['verified is accepted', {}, { kind: 'accept', reason: 'verdict verified' }],
    ['rejected is tried again with the failing output', { verdict: verdict('rejected'), evidence: red },
      { kind: 'retry', reason: 'verdict rejected', guidance: 'npm run test: failed. exit code 1\nexpected 2, got 3' }],
    ['rejected by its outcome is tried again with the outcome', { verdict: verdict('rejected'), outcome: outcome('stalled') },
      { kind: 'retry', reason: 'verdict rejected', guidance: 'The last attempt ended as stalled.' }],
    ['the guidance names the clock and the tool, and nothing of the session that a model could open (SEMANTICS 4)',
      { verdict: verdict('rejected'), outcome: outcome('stalled', { clock: 'tool', lastTool: 'Bash', message: 'session 1, to look at it: openclaude --resume 1' }) },
      { kind: 'retry', reason: 'verdict rejected', guidance: 'The last attempt ended as stalled, by the tool clock, last tool Bash.' }],
    ['the guidance quotes the error that the child reported', { verdict: verdict('rejected'), outcome: outcome('agent-error', { result: reported({ isError: true, text: 'API Error: 500\n"x"' }) }) },
      { kind: 'retry', reason: 'verdict rejected', guidance: 'The last attempt ended as agent-error, saying "API Error: 500 \\"x\\"".' }],
    ['tainted is tried again on a fresh tree', { verdict: verdict('rejected'), outcome: outcome('tainted') },
      { kind: 'retry', reason: 'verdict rejected', guidance: 'The last attempt ended as tainted.', freshTree: true }],
    ['rejected without attempts left is escalated', { verdict: verdict('rejected'), evidence: red, attemptsLeft: 0 },
      { kind: 'escalate', reason: 'verdict rejected No attempt is left.' }],
    ['unverified is accepted where that is on, and says so (R-35)', { verdict: verdict('unverified'), acceptUnverified: true },
      { kind: 'accept', reason: 'verdict unverified Accepted without evidence, since acceptUnverified is on.' }],
    ['unverified is escalated at once where it is off (R-35)', { verdict: verdict('unverified') },
      { kind: 'escalate', reason: 'verdict unverified acceptUnverified is off.' }],
    ['unchanged is tried once more', { verdict: verdict('unchanged'), unchanged: 1 },
      { kind: 'retry', reason: 'verdict unchanged', guidance: 'verdict unchanged\nChange the files the task asks for, or say in your report why nothing has to change.' }],
    ['unchanged twice is escalated', { verdict: verdict('unchanged'), unchanged: 2 },
      { kind: 'escalate', reason: 'verdict unchanged It is the second attempt that did so.' }],
  ]
  test.each(rows)('%s', (_, over, expected) => {
    expect(decideByPolicy(input(over))).toEqual(expected)
  })
})

describe('legality of an advisor decision (T21)', () => {
  type Setup = { readonly checks?: ReturnType<typeof evidence>[], readonly verdict: ReturnType<typeof verdict>, readonly outcome?: ReturnType<typeof outcome>, readonly acceptUnverified?: boolean }
  const accept: Decision = { kind: 'accept', reason: 'looks fine' }
  const patch = (path: string): Decision => ({ kind: 'patch', reason: 'small', edits: [{ path, content: 'x' }] })

  function judge(decision: Decision, setup: Setup): string {
    const run = startWorld(graphOf({ a: [] }), {
      policy: { supervised: true, acceptUnverified: setup.acceptUnverified ?? false },
      script: { checks: () => setup.checks ?? [], verdict: () => setup.verdict, outcome: () => setup.outcome ?? outcome('succeeded') },
    })
    run.run(effect => effect.kind === 'advise')
    const task = run.state.tasks[0]
    if (task === undefined) return 'no task'
    const check = legality(decision, run.state, task)
    return check.legal ? 'legal' : check.reason
  }

  const red: Setup = { checks: [evidence('test', 'failed')], verdict: verdict('rejected') }
  const rows: readonly [string, Decision, Setup, string][] = [
    ['accept over a red required check', accept, red, 'accept is not possible while required checks are red: test.'],
    ['accept of an attempt that did not end by itself', accept, { verdict: verdict('rejected'), outcome: outcome('agent-error') },
      'accept is not possible: The attempt ended as agent-error: outcome agent-error'],
    ['accept without evidence where that is off', accept, { verdict: verdict('unverified') },
      'accept is not possible without evidence while acceptUnverified is off.'],
    ['accept without evidence where that is on', accept, { verdict: verdict('unverified'), acceptUnverified: true }, 'legal'],
    ['accept of an unchanged tree that passes', accept, { checks: [evidence('test', 'passed')], verdict: verdict('unchanged') }, 'legal'],
    ['accept of an unchanged tree without evidence', accept, { verdict: verdict('unchanged') },
      'accept is not possible: nothing changed and no required check passed.'],
    ['retry', { kind: 'retry', reason: 'r', guidance: 'g' }, red, 'legal'],
    ['escalate', { kind: 'escalate', reason: 'r' }, red, 'legal'],
    ['a patch inside the tree', patch('src/a.ts'), red, 'legal'],
    ['a patch of an attempt that did not end by itself', patch('src/a.ts'), { verdict: verdict('rejected'), outcome: outcome('stalled') },
      'patch is not possible: the attempt did not end by itself, so its tree is not a finished piece of work.'],
    ['an empty patch', { kind: 'patch', reason: 'r', edits: [] }, red, 'The patch holds no edits.'],
    ['a split', { kind: 'split', reason: 'r', tasks: [spec('x'), spec('y', ['x'])] }, red, 'legal'],
    ['a split in a circle', { kind: 'split', reason: 'r', tasks: [spec('x', ['y']), spec('y', ['x'])] }, red, 'The tasks depend on each other in a circle: x -> y.'],
  ]
  test.each(rows)('%s', (_, decision, setup, expected) => {
    expect(judge(decision, setup)).toBe(expected)
  })

  test.each(['../a', '/etc/passwd', 'src/../../a', 'C:/a', 'src\\a', '.git/config', 'sub/.GIT/hooks/x', 'a//b', './a', '', 'a\0b'])('a patch of %j is refused (R-34)', path => {
    expect(judge(patch(path), red)).toBe(`The patch names files outside the work tree: ${JSON.stringify(path)}.`)
  })

  test('there is nothing to decide on a task that is not under way', () => {
    const state = foldEntries(graphOf({ a: [] }), 'run', policy(), [])
    expect(state.tasks.map(task => legality(accept, state, task))).toEqual([{ legal: false, reason: 'The task has no attempt to decide on.' }])
  })
})
