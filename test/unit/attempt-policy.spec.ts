import { describe, expect, it } from 'vitest'
import type { AttemptLaunches, Clock, EndReason, ExitFact, LaunchEnd, LaunchState, ReportedResult } from '../../src/core/attempt-types.ts'
import { decideNext, type NextStep } from '../../src/executor/openclaude/attempt-policy.ts'
import { launchPrompt } from '../../src/executor/openclaude/launch-prompt.ts'
import { classifyLaunch } from '../../src/executor/openclaude/launch-verdict.ts'

const settings = { maxStalledRestarts: 2, canResume: true }
const exited = (code: number | null, signal: string | null = null): ExitFact => ({ known: true, code, signal })

const ended = (endedBy: EndReason | null, more: Partial<LaunchEnd> = {}): LaunchEnd => ({
  exit: exited(endedBy === null ? 0 : 143), endedBy, result: null, resultOversize: false, openTools: [], backgroundTasks: 0, records: 3,
  lastTool: 'Bash', lastPhase: 'in_turn', usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 },
  costUsd: 0, model: null, stderrTail: '', durationMs: 1, ...more,
})
const clock = (name: Clock): EndReason => ({ kind: 'clock', clock: name })
const launch = (end: LaunchEnd | null, more: Partial<LaunchState> = {}): LaunchState => ({
  launch: 1, mode: 'fresh', reason: 'first', sessionId: 'S', marker: 'M', dir: 'l1', status: 'swept', keeper: null, child: null, adopted: 0,
  firstRecord: true, end, tree: 'T1', swept: 'clean', ...more,
})
const after = (launches: LaunchState[], counters: Partial<AttemptLaunches> = {}, policy = settings): NextStep => {
  const last = launches.at(-1)
  const verdict = last === undefined || last.end === null ? null : classifyLaunch(last.end, last)
  return decideNext({ launches, stalledRestarts: 0, freshSessions: 0, engineRelaunches: 0, externalKills: 0, ...counters }, verdict, policy)
}
const success: ReportedResult = { subtype: 'success', isError: false, stopReason: 'end_turn', text: 'done', errors: [], turns: 3, denials: [] }
const failure: ReportedResult = { ...success, isError: true }
const fresh = (reason: string): unknown => ({ kind: 'relaunch', mode: 'fresh', reason, sessionId: null })
const resume = (reason: string): unknown => ({ kind: 'relaunch', mode: 'resume', reason, sessionId: 'S' })
const end = (outcome: string): unknown => ({ kind: 'end', outcome })

describe('what follows after a launch (SEMANTICS 4 and 5)', () => {
  it('starts an attempt with a fresh session', () => {
    expect(after([])).toEqual(fresh('first'))
  })

  it('acts by the clock that fired (T5, T6)', () => {
    const clocks: readonly Clock[] = ['first-event', 'idle', 'tool', 'agent-tool', 'retry-wait', 'event-loop', 'requires-action', 'max-runtime']
    expect(clocks.map(name => after([launch(ended(clock(name)))]))).toEqual([
      fresh('stalled'), resume('stalled'), resume('stalled'), resume('stalled'), resume('stalled'), resume('stalled'), end('permission-wait'), resume('overrun'),
    ])
  })

  it('keeps the result when only the process would not leave', () => {
    for (const name of ['background', 'settle'] as const) {
      expect([success, failure].map(result => after([launch(ended(clock(name), { result }))]))).toEqual([end('succeeded'), end('agent-error')])
    }
  })

  it('bounds stalls and overruns together (R-67, R-19)', () => {
    expect(after([launch(ended(clock('idle')))], { stalledRestarts: 1 })).toEqual(resume('stalled'))
    expect(after([launch(ended(clock('idle')))], { stalledRestarts: 2 })).toEqual(end('stalled'))
    expect(after([launch(ended(clock('max-runtime')))], { stalledRestarts: 2 })).toEqual(end('overrun'))
    expect(after([launch(ended(clock('idle')))], {}, { ...settings, maxStalledRestarts: 0 })).toEqual(end('stalled'))
  })

  it('ends after two equal stalls, and goes on when anything differed', () => {
    const first = launch(ended(clock('idle')))
    const second = (more: Partial<LaunchState>, of: Partial<LaunchEnd> = {}): LaunchState => launch(ended(clock('idle'), of), { launch: 2, mode: 'resume', ...more })
    const step = (last: LaunchState): NextStep => after([first, last], { stalledRestarts: 1 })
    expect(step(second({}))).toEqual(end('stalled'))
    expect([
      step(second({ tree: 'T2' })),
      step(second({}, { lastTool: 'Read' })),
      step(second({}, { lastPhase: null })),
      step(launch(ended(clock('tool')), { launch: 2 })),
    ]).toEqual([resume('stalled'), resume('stalled'), resume('stalled'), resume('stalled')])
  })

  it('compares with the last stall, not with a launch that the engine lost in between', () => {
    const lost = launch(ended(null, { exit: { known: false } }), { launch: 2 })
    expect(after([launch(ended(clock('idle'))), lost, launch(ended(clock('idle')), { launch: 3 })], { stalledRestarts: 1 })).toEqual(end('stalled'))
  })

  it('answers a refused resume with exactly one fresh session (T7)', () => {
    const refused = launch(ended(null, { exit: exited(1), records: 0, stderrTail: 'No conversation found with session ID: S' }), { mode: 'resume', firstRecord: false })
    expect(after([refused])).toEqual(fresh('resume-refused'))
    expect(after([refused], { freshSessions: 1 })).toEqual(end('agent-error'))
  })

  it('relaunches once after a kill that was not ours, unless the result was already there (F29, F30)', () => {
    const killed = launch(ended(null, { exit: exited(null, 'SIGKILL') }))
    expect(after([killed])).toEqual(resume('killed-externally'))
    expect(after([killed], { externalKills: 1 })).toEqual(end('killed-externally'))
    expect(after([launch(ended(null, { exit: exited(null, 'SIGKILL'), result: success }))])).toEqual(end('succeeded'))
  })

  it('goes on after the engine was gone, at most three times without a new record (SEMANTICS 5)', () => {
    const lost = launch(ended(null, { exit: { known: false } }))
    const never = launch(null, { status: 'intended', firstRecord: false, swept: null })
    const stopped = launch(ended({ kind: 'stop' }))
    expect([lost, never, stopped].map(last => after([last]))).toEqual([resume('engine-restart'), fresh('engine-restart'), resume('engine-restart')])
    expect([lost, never, stopped].map(last => after([last], { engineRelaunches: 3 })))
      .toEqual([end('relaunch-limit'), end('relaunch-limit'), end('relaunch-limit')])
    expect(after([launch(ended(null, { exit: { known: false }, result: success }))])).toEqual(end('succeeded'))
    expect(after([launch(ended({ kind: 'stop' }, { result: success }))])).toEqual(end('succeeded'))
  })

  it('takes a session of its own where none is stored or none was begun', () => {
    expect(after([launch(ended(clock('idle')))], {}, { ...settings, canResume: false })).toEqual(fresh('stalled'))
    expect(after([launch(ended(clock('idle')), { firstRecord: false })])).toEqual(fresh('stalled'))
  })

  it('ends tainted and flooded attempts, whatever was reported (F15, F17)', () => {
    expect(after([launch(ended(null, { result: success }), { swept: 'tainted' })])).toEqual(end('tainted'))
    expect(after([launch(ended({ kind: 'flooded' }, { result: success }))])).toEqual(end('flooded'))
  })

  it('keeps errors apart', () => {
    const kinds: readonly Partial<LaunchEnd>[] = [{ result: failure }, {}, { resultOversize: true }]
    expect(kinds.map(more => after([launch(ended(null, { exit: exited(7), ...more }))])))
      .toEqual([end('agent-error'), end('no-result'), end('result-oversize')])
  })

  it('keeps a complete result that came while a clock ended the launch', () => {
    expect(after([launch(ended(clock('idle'), { result: success }))])).toEqual(end('succeeded'))
    expect(after([launch(ended({ kind: 'keeper-bound' }, { result: success }))])).toEqual(end('succeeded'))
    expect(after([launch(ended({ kind: 'keeper-bound' }))])).toEqual(resume('overrun'))
  })
})

describe('the prompt of a launch (DESIGN 5.3)', () => {
  it('tells a resumed model that it was interrupted, and a fresh one that the conversation is lost', () => {
    expect(launchPrompt('Do X', { kind: 'relaunch', mode: 'fresh', reason: 'first', sessionId: null })).toBe('Do X')
    const resumed = launchPrompt('Do X', { kind: 'relaunch', mode: 'resume', reason: 'stalled', sessionId: 'S' })
    expect([resumed.includes('interrupted'), resumed.includes('Look at the working tree first'), resumed.includes('Do X')]).toEqual([true, true, false])
    const lost = launchPrompt('Do X', { kind: 'relaunch', mode: 'fresh', reason: 'resume-refused', sessionId: null })
    expect([lost.startsWith('Do X\n'), lost.includes('Its conversation is lost.')]).toEqual([true, true])
  })
})
