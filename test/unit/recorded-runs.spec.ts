import { describe, expect, it } from 'vitest'
import * as liveness from '../../src/executor/stream/liveness.ts'
import * as watchdog from '../../src/executor/watchdog/watchdog.ts'
import type { WatchdogSettings } from '../../src/executor/watchdog/watchdog.ts'
import { beat } from '../support/child-lines.ts'
import { readExit, readRecording, timedRecordings, type Recording } from '../support/recordings.ts'
import { watch, type Step } from '../support/watch.ts'

const subject = { ...liveness, ...watchdog }

/** The clocks scaled down to recordings of up to 90 s, in the order of the defaults. They beat every 5 s. */
const SCALED: WatchdogSettings = {
  firstEventTimeoutMs: 30_000,
  idleTimeoutMs: 35_000,
  toolTimeoutMs: 75_000,
  agentToolTimeoutMs: 150_000,
  backgroundTimeoutMs: 60_000,
  settleTimeoutMs: 8_000,
  maxRuntimeMs: 450_000,
  heartbeatMs: 5_000,
}

/** The worst case for the event-loop clock: a tree that never uses CPU time. */
function withStillCpu(steps: readonly Step[], until: number): readonly Step[] {
  const ticks = Array.from({ length: Math.floor(until / 1000) }, (_, second): Step => ({
    at: second * 1000,
    observation: { kind: 'ticks', cpuTicks: 1, stopped: false },
  }))
  return [...steps, ...ticks].toSorted((a, b) => a.at - b.at)
}

/** What would have followed had the recorder not ended the run: beats, and nothing else. */
function goOn(recording: Recording): readonly Step[] {
  const last = recording.steps.at(-1)?.at ?? 0
  return [...recording.steps, ...Array.from({ length: 100 }, (_, index): Step => ({ at: last + (index + 1) * 5_000, stdout: beat(5_000) }))]
}

const isStream = (name: string): boolean => readRecording(name).steps.some(step => 'stdout' in step && step.stdout.includes('"subtype":"init"'))
const hanging = ['hb-hang-headers-stream', 'hb-agent-hang-stream', 'hb-500-stream', 'hb-permission-wait']
const healthy = timedRecordings(/./).filter(name => isStream(name) && !hanging.includes(name))

describe('R-64: recorded runs of the real command line', () => {
  it('cover the situations of the contract', () => {
    expect(healthy).toEqual([
      'agent-ok-stream', 'bash-echo-stream', 'bash-tool-timeout', 'bash-tool-timeout-no-background', 'hb-429-stream', 'hb-background-bash-stream',
      'hb-bash-chatty-stream', 'hb-bash-long-stream', 'hb-hang-stream-idle8s-api8s', 'hb-multistep-stream', 'hb-permission-then-tool',
      'hb-slow-stream', 'hb-slow-stream-partial', 'hb-tool-progress-env', 'stream-input-interrupt', 'stream-input-two-turns',
    ])
  })

  it.each(healthy)('%s is never called a stall', name => {
    const recording = readRecording(name)
    const exitAt = recording.endedByRecorder ? recording.endAt : readExit(name).elapsed_ms
    expect(watch(subject, { settings: SCALED, steps: withStillCpu(recording.steps, exitAt), exitAt })).toBe(null)
  })

  it.each([
    // 4 ms before the init record came through the pipe: the child's own clock says so.
    { name: 'hb-hang-headers-stream', clock: 'idle', at: 21_944 + 35_000 },
    { name: 'hb-agent-hang-stream', clock: 'agent-tool', at: 13_033 + 150_000 },
    { name: 'hb-500-stream', clock: 'retry-wait', at: 48_577 + 39_520.742_664_726_5 + 35_000 },
    { name: 'hb-permission-wait', clock: 'requires-action', at: 18_251 },
    { name: 'hb-background-bash-stream', clock: 'background', at: 86_910 + 60_000 },
    { name: 'bash-tool-timeout', clock: 'background', at: 7_959 + 60_000 },
    // json format: beats on stderr are all it ever writes, and they prove nothing.
    { name: 'hb-hang-headers-json', clock: 'first-event', at: 30_000 },
  ])('$name, had it gone on for ever, is ended by the $clock clock', ({ name, clock, at }) => {
    const recording = readRecording(name)
    const steps = clock === 'background' ? recording.steps : goOn(recording)
    const fired = watch(subject, { settings: SCALED, steps, exitAt: 1_000_000 })
    expect({ clock: fired?.clock, at: fired?.at }).toEqual({ clock, at })
  })
})
