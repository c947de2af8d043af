import { describe, expect, it } from 'vitest'
import type { AttemptLaunches, Clock, EndReason, ExitFact, LaunchEnd, LaunchState } from '../../src/core/attempt-types.ts'
import { decideNext, type LaunchClass, type NextStep } from '../../src/executor/attempt-policy.ts'
import { launchPrompt } from '../../src/executor/launch-prompt.ts'

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
const after = (launches: LaunchState[], classOfLast: LaunchClass, counters: Partial<AttemptLaunches> = {}, with_ = settings): NextStep => decideNext(
  { launches, stalledRestarts: 0, freshSessions: 0, engineRelaunches: 0, externalKills: 0, ...counters }, classOfLast, with_,
)
const fresh = (reason: string): unknown => ({ kind: 'relaunch', mode: 'fresh', reason, sessionId: null })
const resume = (reason: string): unknown => ({ kind: 'relaunch', mode: 'resume', reason, sessionId: 'S' })
const end = (outcome: string): unknown => ({ kind: 'end', outcome })

describe('what follows after a launch (SEMANTICS 4 and 5)', () => {
  it('starts an attempt with a fresh session', () => {
    expect(after([], 'no-result')).toEqual(fresh('first'))
  })

  it('acts by the clock that fired (T5, T6)', () => {
    const clocks: readonly Clock[] = ['first-event', 'idle', 'tool', 'agent-tool', 'retry-wait', 'event-loop', 'requires-action', 'max-runtime']
    expect(clocks.map(name => after([launch(ended(clock(name)))], 'no-result'))).toEqual([
      fresh('stalled'), resume('stalled'), resume('stalled'), resume('stalled'), resume('stalled'), resume('stalled'), end('permission-wait'), resume('overrun'),
    ])
  })

  it('keeps the result when only the process would not leave', () => {
    for (const name of ['background', 'settle'] as const) {
      expect([after([launch(ended(clock(name)))], 'success'), after([launch(ended(clock(name)))], 'agent-error')]).toEqual([end('succeeded'), end('agent-error')])
    }
  })

  it('bounds stalls and overruns together (R-67, R-19)', () => {
    expect(after([launch(ended(clock('idle')))], 'no-result', { stalledRestarts: 1 })).toEqual(resume('stalled'))
    expect(after([launch(ended(clock('idle')))], 'no-result', { stalledRestarts: 2 })).toEqual(end('stalled'))
    expect(after([launch(ended(clock('max-runtime')))], 'no-result', { stalledRestarts: 2 })).toEqual(end('overrun'))
    expect(after([launch(ended(clock('idle')))], 'no-result', {}, { ...settings, maxStalledRestarts: 0 })).toEqual(end('stalled'))
  })

  it('ends after two equal stalls, and goes on when anything differed', () => {
    const first = launch(ended(clock('idle')))
    const second = (more: Partial<LaunchState>, of: Partial<LaunchEnd> = {}): LaunchState => launch(ended(clock('idle'), of), { launch: 2, mode: 'resume', ...more })
    const step = (last: LaunchState): NextStep => after([first, last], 'no-result', { stalledRestarts: 1 })
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
    expect(after([launch(ended(clock('idle'))), lost, launch(ended(clock('idle')), { launch: 3 })], 'no-result', { stalledRestarts: 1 })).toEqual(end('stalled'))
  })

  it('answers a refused resume with exactly one fresh session (T7)', () => {
    const refused = launch(ended(null, { exit: exited(1) }), { mode: 'resume', firstRecord: false })
    expect(after([refused], 'resume-refused')).toEqual(fresh('resume-refused'))
    expect(after([refused], 'resume-refused', { freshSessions: 1 })).toEqual(end('agent-error'))
  })

  it('relaunches once after a kill that was not ours, unless the result was already there (F29, F30)', () => {
    const killed = launch(ended(null, { exit: exited(null, 'SIGKILL') }))
    expect(after([killed], 'no-result')).toEqual(resume('killed-externally'))
    expect(after([killed], 'no-result', { externalKills: 1 })).toEqual(end('killed-externally'))
    expect(after([killed], 'success')).toEqual(end('succeeded'))
  })

  it('goes on after the engine was gone, at most three times without a new record (SEMANTICS 5)', () => {
    const lost = launch(ended(null, { exit: { known: false } }))
    const never = launch(null, { status: 'intended', firstRecord: false, swept: null })
    const stopped = launch(ended({ kind: 'stop' }))
    expect([lost, never, stopped].map(last => after([last], 'no-result'))).toEqual([resume('engine-restart'), fresh('engine-restart'), resume('engine-restart')])
    expect([lost, never, stopped].map(last => after([last], 'no-result', { engineRelaunches: 3 })))
      .toEqual([end('relaunch-limit'), end('relaunch-limit'), end('relaunch-limit')])
    expect(after([lost], 'success')).toEqual(end('succeeded'))
  })

  it('takes a session of its own where none is stored or none was begun', () => {
    expect(after([launch(ended(clock('idle')))], 'no-result', {}, { ...settings, canResume: false })).toEqual(fresh('stalled'))
    expect(after([launch(ended(clock('idle')), { firstRecord: false })], 'no-result')).toEqual(fresh('stalled'))
  })

  it('ends tainted and flooded attempts, whatever was reported (F15, F17)', () => {
    expect(after([launch(ended(null), { swept: 'tainted' })], 'success')).toEqual(end('tainted'))
    expect(after([launch(ended({ kind: 'flooded' }))], 'success')).toEqual(end('flooded'))
  })

  it('keeps errors apart', () => {
    for (const kind of ['agent-error', 'no-result', 'result-oversize'] as const) {
      expect(after([launch(ended(null, { exit: exited(7) }))], kind)).toEqual(end(kind))
    }
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
