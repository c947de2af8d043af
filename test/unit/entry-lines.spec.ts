import { expect, test } from 'vitest'
import { entryLine, renderResult } from '../../src/cli/entry-lines.ts'
import { SIGNAL_EXIT, exitCodeOfEnd, exitCodeOfError } from '../../src/cli/exit-code.ts'
import { renderError } from '../../src/cli/output.ts'
import type { Entry } from '../../src/core/entry-types.ts'
import { OpenClaudeError } from '../../src/errors.ts'

const line = (entry: object): string | null => entryLine(entry as Entry)
const ref = { task: 'cart', attempt: 2 }

test('each entry a person cares about is one line, the others none', () => {
  expect([
    line({ kind: 'run-created', run: 'r1', tasks: 1 }),
    line({ kind: 'attempt-started', ...ref, attemptKind: 'retry' }),
    line({ kind: 'launch-intended', ...ref, launch: 1, mode: 'fresh', reason: 'first' }),
    line({ kind: 'launch-ended', ...ref, launch: 1, end: { endedBy: { kind: 'clock', clock: 'idle' } } }),
    line({ kind: 'launch-intended', ...ref, launch: 2, mode: 'resume', reason: 'stalled' }),
    line({ kind: 'launch-adopted', ...ref, launch: 2 }),
    line({ kind: 'launch-intended', ...ref, launch: 3, mode: 'fresh', reason: 'resume-refused' }),
    line({ kind: 'attempt-ended', ...ref, outcome: { kind: 'succeeded', durationMs: 65_000 } }),
    line({ kind: 'check-evidence', ...ref, evidence: { check: 'lint', grade: 'skipped', durationMs: 0, cached: false } }),
    line({ kind: 'check-evidence', ...ref, evidence: { check: 'test', grade: 'failed', durationMs: 2500, cached: false } }),
    line({ kind: 'verdict', ...ref, verdict: { kind: 'rejected', reason: 'Required checks are red: test (failed).' } }),
    line({ kind: 'decision', ...ref, by: 'policy', decision: { kind: 'retry', reason: 'Required checks are red: test (failed).' } }),
    line({ kind: 'decision', ...ref, by: 'advisor', decision: { kind: 'retry', reason: 'Tax is missing.' } }),
    line({ kind: 'handoff-opened', ...ref, handoff: 'h1', reason: 'No attempt is left.' }),
    line({ kind: 'task-blocked', task: 'invoice', causes: ['cart'] }),
    line({ kind: 'landed', ...ref }),
    line({ kind: 'run-finished', result: { kind: 'incomplete' } }),
  ]).toEqual([
    'run r1: 1 task',
    'cart: attempt 2 (retry)',
    null,
    'cart: launch 1 ended by the idle clock',
    'cart: launch 2 (resume, stalled)',
    'cart: launch 2 adopted, it was still running',
    'cart: launch 3 (fresh, resume-refused), the history of its session is lost',
    'cart: attempt 2 reported done after 1m 05s',
    null,
    'cart: test failed in 2.5s',
    'cart: rejected, Required checks are red: test (failed).',
    'cart: policy decided retry',
    'cart: advisor decided retry (Tax is missing.)',
    'cart: needs a decision (h1): No attempt is left.',
    'invoice: blocked by cart',
    null,
    'run finished: incomplete',
  ])
})

test('a line holds no escape sequence and no line break, whatever a child wrote (F20)', () => {
  expect(line({ kind: 'task-failed', task: 'cart', reason: '\u001b[2J\u001b]8;;http://x\u0007gone\u001b]8;;\u0007\nnext' })).toBe('cart: failed, gone next')
})

test('results and exit codes', () => {
  expect([
    renderResult({ kind: 'halted', reason: 'budget', message: 'spent' } as never),
    exitCodeOfEnd({ kind: 'finished', result: { kind: 'complete' } } as never, 'SIGINT'),
    exitCodeOfEnd({ kind: 'finished', result: { kind: 'incomplete' } } as never, null),
    ...(['SIGHUP', 'SIGINT', 'SIGTERM'] as const).map(signal => exitCodeOfEnd({ kind: 'stopped', reason: signal } as never, signal) === SIGNAL_EXIT[signal]),
    exitCodeOfError(new OpenClaudeError('OC_USAGE', 'x')),
    exitCodeOfError(new Error('x')),
  ]).toEqual(['halted (budget): spent', 0, 1, true, true, true, 2, 3])
})

test('an error shows subject, rule and fix, the code on its first line, and each fault once', () => {
  const listed = new OpenClaudeError('OC_GRAPH_INVALID', 'Graph file g has 1 fault:\n  2:3  $.x  unknown key.', {
    fix: 'Correct it.', faults: [{ path: '$.x', message: 'unknown key.' }],
  })
  const bare = new OpenClaudeError('OC_CONFIG_INVALID', 'addDirs names 1 missing directory.', { faults: [{ path: '$.addDirs[0]', message: '/x is no directory.' }] })
  expect([renderError(listed), renderError(bare)]).toEqual([
    ['dsh-openclaude: Graph file g has 1 fault: [OC_GRAPH_INVALID]', '  2:3  $.x  unknown key.', '  Correct it.'],
    ['dsh-openclaude: addDirs names 1 missing directory. [OC_CONFIG_INVALID]', '  $.addDirs[0]: /x is no directory.'],
  ])
})
