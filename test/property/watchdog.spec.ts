import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as liveness from '../../src/executor/stream/liveness.ts'
import type { WatchdogSettings } from '../../src/executor/watchdog/settings.ts'
import { situationOf } from '../../src/executor/watchdog/situation.ts'
import * as watchdog from '../../src/executor/watchdog/watchdog.ts'
import * as says from '../support/child-lines.ts'
import { watch, type Step } from '../support/watch.ts'

const subject = { ...liveness, ...watchdog }

/** Small clocks, so that random lives reach them. */
const SETTINGS: WatchdogSettings = {
  firstEventTimeoutMs: 120, idleTimeoutMs: 240, toolTimeoutMs: 660, agentToolTimeoutMs: 1200, backgroundTimeoutMs: 600, settleTimeoutMs: 30, maxRuntimeMs: 3600, heartbeatMs: 30,
}
const END = 20_000

const id = fc.constantFrom('a', 'b', 'c')
const parent = fc.constantFrom(null, 'a', 'b', 'c')
const record = fc.oneof(
  fc.constant(says.init()),
  fc.tuple(id, fc.constantFrom('Bash', 'Agent'), parent).map(([call, name, under]) => says.toolUse(call, name, under === call ? null : under)),
  fc.tuple(id, parent).map(([call, under]) => says.toolResult(call, under)),
  parent.map(under => says.token(under)),
  fc.integer({ min: 0, max: 500 }).map(delay => says.retry(delay)),
  id.map(call => says.toolProgress(call)),
  fc.tuple(id, id).map(([task, call]) => says.taskStarted(task, call)),
  fc.tuple(id, id).map(([task, call]) => says.taskEnded(task, call)),
  fc.constant(says.result()),
  fc.constant(says.unknown('news')),
  fc.constant('no record'),
)
const anyBeat = fc.record({
  quiet: fc.integer({ min: 0, max: 400 }),
  state: fc.constantFrom('running', 'requires_action', 'idle'),
  pending: fc.integer({ min: 0, max: 1 }),
  background: fc.integer({ min: 0, max: 2 }),
}).map(({ quiet, ...fields }) => says.beat(quiet, fields))
/** A beat that says no more than that the loop turns. */
const plainBeat = fc.integer({ min: 0, max: 400 }).map(quiet => says.beat(quiet))
const at = fc.integer({ min: 0, max: 5_000 })
const timed = (line: fc.Arbitrary<string>): fc.Arbitrary<Step> => fc.tuple(at, line).map(([when, stdout]) => ({ at: when, stdout }))
const ticks: fc.Arbitrary<Step> = fc.tuple(at, fc.option(fc.integer({ min: 0, max: 3 })), fc.boolean())
  .map(([when, cpuTicks, stopped]) => ({ at: when, observation: { kind: 'ticks', cpuTicks, stopped } }))
const rearm: fc.Arbitrary<Step> = at.map(when => ({ at: when, observation: { kind: 're-arm', why: 'suspended' } }))
const life = (step: fc.Arbitrary<Step>, maxLength = 40): fc.Arbitrary<readonly Step[]> =>
  fc.array(step, { maxLength }).map(steps => steps.toSorted((a, b) => a.at - b.at))
const merge = (a: readonly Step[], b: readonly Step[]): readonly Step[] => [...a, ...b].toSorted((x, y) => x.at - y.at)

describe('the watchdog, over random lives', () => {
  it('R-64: adding heartbeats never delays a stall', () => {
    // The event-loop clock lives on missing heartbeats; it is watched by the situations. A count of 0 background tasks is
    // news about the work, not liveness: lives here have none.
    const settings = { ...SETTINGS, heartbeatMs: null }
    const step = timed(record.filter(line => !line.includes('task_started')))
    fc.assert(fc.property(life(step), life(timed(plainBeat)), (steps, beats) => {
      const without = watch(subject, { settings, steps, exitAt: END })
      const withBeats = watch(subject, { settings, steps: merge(steps, beats), exitAt: END })
      expect(withBeats?.at ?? END).toBeLessThanOrEqual(without?.at ?? END)
    }), { numRuns: 2_000 })
  })

  it('R-104: heartbeats and noise alone always end in a stall, at the first-event limit', () => {
    const sign = timed(fc.oneof(plainBeat, fc.string(), fc.constant(says.ping())))
    fc.assert(fc.property(life(sign), steps => {
      expect(watch(subject, { settings: SETTINGS, steps, exitAt: END })).toMatchObject({ clock: 'first-event', at: 120 })
    }), { numRuns: 500 })
  })

  it('every life that does not end by itself is ended by a clock, at the run-time bound at the latest', () => {
    fc.assert(fc.property(life(fc.oneof(timed(record), timed(anyBeat), ticks, rearm)), steps => {
      const fired = watch(subject, { settings: SETTINGS, steps, exitAt: END })
      expect(fired?.at ?? END).toBeLessThanOrEqual(SETTINGS.maxRuntimeMs)
    }), { numRuns: 2_000 })
  })

  it('exactly one clock of the situation runs, and nothing fires before the next deadline', () => {
    fc.assert(fc.property(life(fc.oneof(timed(record), timed(anyBeat), ticks, rearm)), steps => {
      const state = watchdog.newWatchdog(SETTINGS, 0)
      for (const step of steps) {
        if ('stdout' in step) watchdog.observe(state, { kind: 'record', record: liveness.decodeRecord({ text: step.stdout, oversize: false, bytes: 1 }) }, step.at)
        if ('observation' in step) watchdog.observe(state, step.observation, step.at)
        const deadline = watchdog.nextDeadline(state)
        const beside = ['requires-action', 'event-loop', 'max-runtime', situationOf(state).clock]
        expect(beside).toContain(deadline?.clock)
        if (deadline === null) continue
        expect(watchdog.check(state, deadline.at - 0.001)).toBe(null)
        expect(watchdog.check(state, deadline.at)?.clock).toBe(deadline.clock)
      }
    }), { numRuns: 1_000 })
  })

  it('the same observations give the same state and the same firing', () => {
    fc.assert(fc.property(life(fc.oneof(timed(record), timed(anyBeat), ticks, rearm)), steps => {
      const play = (): unknown => watch(subject, { settings: SETTINGS, steps, exitAt: END })
      expect(play()).toEqual(play())
    }), { numRuns: 300 })
  })

  it('noise changes nothing but time', () => {
    const noise = timed(fc.constantFrom('', 'warn: x', '{"a":1}', '[]', '{"type":', says.ping()))
    fc.assert(fc.property(life(fc.oneof(timed(record), timed(anyBeat))), life(noise), (steps, noises) => {
      const play = (lines: readonly Step[]): unknown => watch(subject, { settings: SETTINGS, steps: lines, exitAt: END })
      expect(play(merge(steps, noises))).toEqual(play(steps))
    }), { numRuns: 1_000 })
  })
})

describe('decoding', () => {
  it('never throws, and never calls a line a record that is no JSON object with a type', () => {
    const line = fc.oneof(fc.string(), fc.json(), fc.string().map(text => `{"type":${JSON.stringify(text)}`))
    fc.assert(fc.property(line, fc.boolean(), (text, oversize) => {
      const decoded = liveness.decodeRecord({ text, oversize, bytes: text.length })
      liveness.decodeStderrLine({ text, oversize, bytes: text.length })
      if (decoded.kind !== 'noise' && !oversize) expect(typeof (JSON.parse(text) as { type: unknown }).type).toBe('string')
    }), { numRuns: 2_000 })
  })

  it('F18: the head of an oversize line tells its type and ids wherever it is cut', () => {
    const text = says.toolResult('call_1').replace('"done"', JSON.stringify(`"tool_use_id":"fake" ${'x'.repeat(300)}`))
    const full = text.indexOf('call_1') + 'call_1"'.length
    fc.assert(fc.property(fc.integer({ min: full, max: text.length }), cut => {
      expect(liveness.decodeRecord({ text: text.slice(0, cut), oversize: true, bytes: 10_000_000 }))
        .toEqual({ kind: 'oversize', type: 'user', toolIds: ['call_1'] })
    }))
  })
})
