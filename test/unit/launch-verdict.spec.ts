import { describe, expect, it } from 'vitest'
import type { EndReason, ExitFact, LaunchEnd, LaunchMode, ReportedResult } from '../../src/core/attempt-types.ts'
import { CLOCKS } from '../../src/core/attempt-types.ts'
import { addRecord, envelopeFacts, newEnvelope } from '../../src/executor/stream/envelope.ts'
import { classifyLaunch, type LaunchVerdict } from '../../src/executor/openclaude/launch-verdict.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { readExit, readRecords, readText } from '../support/recordings.ts'

const OK: ReportedResult = { subtype: 'success', isError: false, stopReason: 'end_turn', text: 'Done.', errors: [], turns: 2, denials: [] }
const exit = (code: number | null, signal: string | null = null): ExitFact => ({ known: true, code, signal })
const UNKNOWN: ExitFact = { known: false }

function end(facts: Partial<LaunchEnd>): LaunchEnd {
  return {
    exit: exit(0), endedBy: null, result: OK, resultOversize: false, openTools: [], backgroundTasks: 0, records: 5, lastTool: null, lastPhase: null,
    usage: NO_USAGE, costUsd: 0, model: 'mock', stderrTail: '', durationMs: 60_000, ...facts,
  }
}

const clock = (name: (typeof CLOCKS)[number]): EndReason => ({ kind: 'clock', clock: name })
const refusedText = 'No conversation found with session ID: 00000000-0000-4000-8000-000000000007'

describe('classifyLaunch (DESIGN 5.4)', () => {
  it.each<[string, Partial<LaunchEnd>, LaunchMode, LaunchVerdict]>([
    ['a success that exited 0', {}, 'fresh', { kind: 'succeeded', support: 'exit-zero' }],
    ['a success whose exit nobody saw (SEMANTICS 4)', { exit: UNKNOWN }, 'fresh', { kind: 'succeeded', support: 'exit-unknown' }],
    [
      'a success followed by a death that was not ours (F30)', { exit: exit(null, 'SIGKILL') }, 'fresh',
      { kind: 'succeeded', support: 'death-after-result' },
    ],
    ['a success followed by a shell\'s 137', { exit: exit(137) }, 'fresh', { kind: 'succeeded', support: 'death-after-result' }],
    ['a success that exited 1', { exit: exit(1) }, 'fresh', { kind: 'agent-error', reasons: ['exit code 1'] }],
    [
      'an API failure', { exit: exit(1), result: { ...OK, isError: true, stopReason: 'stop_sequence' } }, 'fresh',
      { kind: 'agent-error', reasons: ['the result is marked as an error', 'exit code 1'] },
    ],
    [
      'the turn limit', { exit: exit(1), result: { ...OK, subtype: 'error_max_turns', isError: true, stopReason: 'tool_use', text: '' } }, 'fresh',
      {
        kind: 'agent-error',
        reasons: ['result error_max_turns', 'the result is marked as an error', 'stopped in a tool call', 'the final text is empty', 'exit code 1'],
      },
    ],
    ['an empty answer', { result: { ...OK, text: ' \n' } }, 'fresh', { kind: 'agent-error', reasons: ['the final text is empty'] }],
    ['an answer with an open call', { openTools: ['a'] }, 'fresh', { kind: 'agent-error', reasons: ['1 tool calls without a result'] }],
    [
      'an answer with background tasks', { backgroundTasks: 2 }, 'fresh',
      { kind: 'agent-error', reasons: ['2 background tasks still ran'] },
    ],
    ['no result and exit 7 (R-70)', { exit: exit(7), result: null }, 'fresh', { kind: 'no-result' }],
    ['no result and exit 0', { result: null }, 'fresh', { kind: 'no-result' }],
    ['no result and a crash', { exit: exit(null, 'SIGSEGV'), result: null }, 'fresh', { kind: 'no-result' }],
    ['no result and no exit', { exit: UNKNOWN, result: null }, 'fresh', { kind: 'lost' }],
    ['an unseen exit after a failure', { exit: UNKNOWN, result: { ...OK, isError: true } }, 'fresh', { kind: 'lost' }],
    ['a result too long to read (F18)', { result: null, resultOversize: true }, 'fresh', { kind: 'result-oversize' }],
    ['a result too long to read and no exit', { exit: UNKNOWN, result: null, resultOversize: true }, 'fresh', { kind: 'result-oversize' }],
    [
      'SIGKILL that was not ours (F29)', { exit: exit(null, 'SIGKILL'), result: null }, 'fresh',
      { kind: 'killed-externally', signal: 'SIGKILL' },
    ],
    ['SIGTERM that was not ours', { exit: exit(143), result: null }, 'resume', { kind: 'killed-externally', signal: 'SIGTERM' }],
    [
      'an unknown session (T7)', { exit: exit(1), result: null, records: 0, stderrTail: refusedText }, 'resume',
      { kind: 'refused-resume', reason: 'unknown-session' },
    ],
    [
      'the same words from a fresh launch', { exit: exit(1), result: null, records: 0, stderrTail: refusedText }, 'fresh',
      { kind: 'no-result' },
    ],
    [
      'the same words after real work', { exit: exit(1), result: null, records: 9, stderrTail: refusedText }, 'resume',
      { kind: 'no-result' },
    ],
    [
      'an unknown session told by a result record and nothing else, however long the start took (T7)',
      { exit: exit(1), result: { ...OK, subtype: 'error_during_execution', isError: true, text: '', errors: [refusedText], turns: 0 }, records: 1, durationMs: 6_000 }, 'resume',
      { kind: 'refused-resume', reason: 'unknown-session' },
    ],
    [
      'a broken transcript told in the same way (F31)',
      {
        exit: exit(1), records: 1, durationMs: 6_000,
        result: { ...OK, subtype: 'error_during_execution', isError: true, text: '', errors: ['Failed to resume session: Cannot read properties of null'], turns: 0 },
      }, 'resume',
      { kind: 'refused-resume', reason: 'failed-at-once' },
    ],
    [
      'an error at 0 turns after the stream began',
      { exit: exit(1), result: { ...OK, subtype: 'error_during_execution', isError: true, turns: 0 }, records: 4, durationMs: 6_000 }, 'resume',
      { kind: 'agent-error', reasons: ['result error_during_execution', 'the result is marked as an error', 'exit code 1'] },
    ],
    [
      'a resume that fails at once (F31)', { exit: exit(1), result: null, records: 1, durationMs: 1_999 }, 'resume',
      { kind: 'refused-resume', reason: 'failed-at-once' },
    ],
    [
      'a resume that fails at once with a result of 0 turns',
      { exit: exit(1), result: { ...OK, isError: true, turns: 0 }, durationMs: 1_000 }, 'resume',
      { kind: 'refused-resume', reason: 'failed-at-once' },
    ],
    ['a resume that fails after 2 s', { exit: exit(1), result: null, durationMs: 2_000 }, 'resume', { kind: 'no-result' }],
    [
      'a resume that fails fast after a turn', { exit: exit(1), result: { ...OK, isError: true, turns: 1 }, durationMs: 1_000 }, 'resume',
      { kind: 'agent-error', reasons: ['the result is marked as an error', 'exit code 1'] },
    ],
    [
      'a fast resume that succeeds', { durationMs: 500, result: { ...OK, turns: 0 } }, 'resume',
      { kind: 'succeeded', support: 'exit-zero' },
    ],
  ])('%s', (_, facts, mode, verdict) => {
    expect(classifyLaunch(end(facts), { mode })).toEqual(verdict)
  })

  it.each<[string, Partial<LaunchEnd>, LaunchVerdict]>([
    [
      'settling keeps a complete result', { endedBy: clock('settle'), exit: exit(null, 'SIGKILL') },
      { kind: 'succeeded', support: 'ended-by-us' },
    ],
    [
      'the background clock keeps it with its tasks', { endedBy: clock('background'), backgroundTasks: 1 },
      { kind: 'succeeded', support: 'ended-by-us' },
    ],
    [
      'settling keeps a failure a failure', { endedBy: clock('settle'), result: { ...OK, isError: true } },
      { kind: 'agent-error', reasons: ['the result is marked as an error'] },
    ],
    [
      'settling of a result too long to read', { endedBy: clock('settle'), result: null, resultOversize: true },
      { kind: 'result-oversize' },
    ],
    ['a stall', { endedBy: clock('idle'), result: null, exit: exit(143) }, { kind: 'stalled', clock: 'idle' }],
    [
      'a stall whose interrupted child says success and nothing (OC 0.9)',
      { endedBy: clock('tool'), result: { ...OK, text: '', stopReason: 'tool_use' } }, { kind: 'stalled', clock: 'tool' },
    ],
    ['a stall whose answer came before the signal', { endedBy: clock('idle') }, { kind: 'succeeded', support: 'ended-by-us' }],
    ['a stall with background tasks left', { endedBy: clock('idle'), backgroundTasks: 1 }, { kind: 'stalled', clock: 'idle' }],
    ['an overrun', { endedBy: clock('max-runtime'), result: null }, { kind: 'overrun' }],
    ['an overrun after a complete result', { endedBy: clock('max-runtime') }, { kind: 'succeeded', support: 'ended-by-us' }],
    ['the keeper\'s bound', { endedBy: { kind: 'keeper-bound' }, result: null }, { kind: 'overrun' }],
    ['a permission question', { endedBy: clock('requires-action'), result: null }, { kind: 'permission-wait' }],
    ['a flood', { endedBy: { kind: 'flooded' } }, { kind: 'flooded' }],
    ['a stop, even after a result', { endedBy: { kind: 'stop' } }, { kind: 'stopped' }],
    ['an abort, even after a result', { endedBy: { kind: 'abort' } }, { kind: 'aborted' }],
  ])('ended by us: %s', (_, facts, verdict) => {
    expect(classifyLaunch(end(facts), { mode: 'fresh' })).toEqual(verdict)
  })

  it('knows every clock', () => {
    const kinds = CLOCKS.map(name => [name, classifyLaunch(end({ endedBy: clock(name), result: null }), { mode: 'fresh' }).kind])
    expect(Object.fromEntries(kinds)).toEqual({
      'first-event': 'stalled', 'idle': 'stalled', 'tool': 'stalled', 'agent-tool': 'stalled', 'retry-wait': 'stalled', 'event-loop': 'stalled',
      'background': 'no-result', 'settle': 'no-result', 'requires-action': 'permission-wait', 'max-runtime': 'overrun',
    })
  })

  it('quotes nothing the model wrote', () => {
    const verdict = classifyLaunch(end({ result: { ...OK, subtype: `<b>\u001B[0m${'x'.repeat(100)}`, text: 'SECRET' } }), { mode: 'fresh' })
    expect(verdict).toEqual({ kind: 'agent-error', reasons: [`result ?b???0m${'x'.repeat(53)}`] })
  })
})

describe('classifyLaunch on recorded ends', () => {
  it.each<[string, LaunchMode, LaunchVerdict['kind']]>([
    ['agent-ok-stream', 'fresh', 'succeeded'],
    ['hb-tool-progress-env', 'fresh', 'succeeded'],
    ['hb-429-stream', 'fresh', 'agent-error'],
    ['max-turns-envelope-stream', 'fresh', 'agent-error'],
    ['hb-500-stream', 'fresh', 'killed-externally'],
    ['session-9-resume-nopersist', 'resume', 'refused-resume'],
    ['flag-resume-unknown', 'resume', 'refused-resume'],
    ['flag-max-steps', 'fresh', 'no-result'],
    ['stream-input-interrupt', 'fresh', 'agent-error'],
    ['hb-background-bash-stream', 'fresh', 'killed-externally'],
  ])('%s as %s: %s', (name, mode, kind) => {
    const envelope = newEnvelope()
    for (const record of readRecords(name)) addRecord(envelope, record)
    const { code, signal, elapsed_ms } = readExit(name)
    const facts = { ...envelopeFacts(envelope), exit: exit(code, signal), stderrTail: readText(name, 'stderr.txt').slice(-2_000), durationMs: elapsed_ms }
    expect(classifyLaunch(end(facts), { mode }).kind).toBe(kind)
  })
})
