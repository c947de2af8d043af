import { describe, expect, it } from 'vitest'
import { decodeRecord } from '../../src/executor/stream/liveness.ts'
import { check, newWatchdog, nextDeadline, observe, type WatchdogState } from '../../src/executor/watchdog/watchdog.ts'
import * as says from '../support/child-lines.ts'
import { DEFAULT_CLOCKS } from '../support/default-clocks.ts'

const settings = DEFAULT_CLOCKS

function read(state: WatchdogState, text: string, at: number): WatchdogState {
  return observe(state, { kind: 'record', record: decodeRecord({ text, oversize: false, bytes: text.length }) }, at)
}

describe('the report of a stall (R-66)', () => {
  it('names the quiet time, what the child did, the last phase and the last tool', () => {
    const state = newWatchdog(settings, 0)
    read(state, says.init(), 5_000)
    read(state, says.toolUse('a', 'Bash'), 6_000)
    read(state, says.beat(30_000), 36_000)
    expect(check(state, 666_000)).toEqual({
      clock: 'tool',
      situation: 'No progress for 660 s while the child ran the tool Bash (last phase in_turn, last tool Bash).',
    })
  })

  it('says so when neither phase nor tool was seen', () => {
    expect(check(newWatchdog(settings, 0), 120_500)).toEqual({
      clock: 'first-event',
      situation: 'No progress for 120.5 s while the child had not written its first record (last phase none, last tool none).',
    })
  })

  it('holds names of the child only as one bounded printable line', () => {
    const state = newWatchdog(settings, 0)
    read(state, says.init(), 0)
    read(state, says.toolUse('a', `\u001B[31mBash\n${'x'.repeat(500)}`), 0)
    const situation = check(state, settings.toolTimeoutMs)?.situation ?? ''
    expect({ plain: /^[\x20-\x7e]+$/.test(situation), short: situation.length < 300 }).toEqual({ plain: true, short: true })
  })

  it.each([
    [
      'requires-action', 'The child asked for a permission that nobody can give (last phase in_turn, last tool none).',
      (state: WatchdogState): unknown => read(state, says.beat(1_000, { state: 'requires_action', pending: 1 }), 1_000), 1_000,
    ],
    [
      'max-runtime', 'The launch ran for 3600 s, longer than it may (last phase none, last tool none).',
      (state: WatchdogState): unknown => read(state, says.token(), 3_599_999), 3_600_000,
    ],
    [
      'settle', 'No progress for 30 s while the child had given its result and did not exit (last phase none, last tool none).',
      (state: WatchdogState): unknown => read(state, says.result(), 1_000), 31_000,
    ],
    [
      'background',
      'No progress for 600 s while the child had given its result and still ran 2 background tasks (last phase in_turn, last tool none).',
      (state: WatchdogState): unknown => [read(state, says.result(), 1_000), read(state, says.beat(0, { background: 2 }), 1_000)], 601_000,
    ],
    [
      'retry-wait', 'No progress for 245 s while the child waited 5 s before it asked the model again (last phase none, last tool none).',
      (state: WatchdogState): unknown => read(state, says.retry(5_000), 1_000), 246_000,
    ],
  ])('fires %s with a sentence of its own', (clock, situation, live, at) => {
    const state = newWatchdog(settings, 0)
    live(state)
    expect([check(state, at - 1), check(state, at)]).toEqual([null, { clock, situation }])
  })
})

describe('an adopted launch (SEMANTICS 7)', () => {
  it('gets one full window, whatever its old heartbeats say', () => {
    const state = newWatchdog(settings, 1_000_000, 400_000)
    read(state, says.init(), 1_000_000)
    read(state, says.beat(230_000), 1_000_000)
    expect(nextDeadline(state)).toEqual({ clock: 'idle', at: 1_240_000 })
  })

  it('keeps the run-time bound of its start', () => {
    expect(nextDeadline(newWatchdog({ ...settings, firstEventTimeoutMs: 9_000_000 }, 1_000_000, 400_000))).toEqual({ clock: 'max-runtime', at: 4_000_000 })
  })
})

describe('dry-run', () => {
  it('says a stall again only after one more window', () => {
    const state = newWatchdog(settings, 0)
    read(state, says.init(), 0)
    expect(check(state, 240_000)?.clock).toBe('idle')
    observe(state, { kind: 're-arm', why: 'reported' }, 240_000)
    expect({ now: check(state, 240_000), next: nextDeadline(state) }).toEqual({ now: null, next: { clock: 'idle', at: 480_000 } })
  })

  it('says an overrun and a permission question once', () => {
    const state = newWatchdog(settings, 0)
    read(state, says.init(), 3_599_000)
    read(state, says.beat(0, { state: 'requires_action', pending: 1 }), 3_599_000)
    expect(check(state, 3_599_000)?.clock).toBe('requires-action')
    observe(state, { kind: 're-arm', why: 'reported' }, 3_599_000)
    read(state, says.beat(30_000, { state: 'requires_action', pending: 1 }), 3_599_500)
    expect(check(state, 3_600_000)?.clock).toBe('max-runtime')
    observe(state, { kind: 're-arm', why: 'reported' }, 3_600_000)
    expect(nextDeadline(state)).toEqual({ clock: 'idle', at: 3_840_000 })
  })
})

describe('settings', () => {
  it('with every clock that may be off switched off, nothing ever fires while the model is owed', () => {
    const state = newWatchdog({ ...settings, idleTimeoutMs: 0, maxRuntimeMs: 0 }, 0)
    read(state, says.init(), 0)
    read(state, says.retry(1_000), 0)
    expect(nextDeadline(state)).toBe(null)
  })
})
