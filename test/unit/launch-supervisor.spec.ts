import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EndReason } from '../../src/core/attempt-types.ts'
import { LaunchReader } from '../../src/executor/openclaude/launch-reader.ts'
import { watchdogSettings } from '../../src/executor/openclaude/launch-request.ts'
import { LaunchSupervisor, type SupervisedEnd, type SupervisorOptions } from '../../src/executor/openclaude/launch-supervisor.ts'
import type { EndUrgency, LaunchChunk, LaunchExit, LiveLaunch } from '../../src/executor/keeper/launch-types.ts'
import { Pacemaker } from '../../src/executor/watchdog/pacemaker.ts'
import { NO_USAGE } from '../../src/executor/stream/usage-totals.ts'
import type { WatchdogSettings } from '../../src/executor/watchdog/settings.ts'
import { testConfig } from '../support/test-config.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

interface Scene {
  readonly supervisor: LaunchSupervisor
  readonly ended: Promise<SupervisedEnd>
  readonly write: (value: unknown, stream?: LaunchChunk['stream']) => void
  readonly calls: string[]
  cpu: number
}

const identity = { bootId: 'b', pidNs: '1', pid: 1, startTicks: '1' }

const newScene = (settings: Partial<WatchdogSettings> = {}, options: Partial<SupervisorOptions> = {}): Scene => {
  const calls: string[] = []
  let listener: (chunk: LaunchChunk) => void = () => {}
  let exit: (exit: LaunchExit) => void = () => {}
  const exited = new Promise<LaunchExit>(resolve => {
    exit = resolve
  })
  const live: LiveLaunch = {
    keeper: identity, child: identity, progressAgeMs: 0, exited,
    onChunk: listen => {
      listener = listen
    },
    end: (urgency: EndUrgency) => {
      calls.push(`end ${urgency}`)
      exit({ exit: { known: true, code: 143, signal: null }, endedByKeeper: null, durationMs: 1 })
      return Promise.resolve()
    },
    cpuTicks: () => scene.cpu,
    sweep: () => Promise.resolve({ result: 'clean', ended: 0 }),
    stopped: () => false,
  }
  const supervisor = new LaunchSupervisor({
    launch: 1, live, settings: { ...watchdogSettings(testConfig(), {}), heartbeatMs: null, ...settings }, ageMs: 0, dryRun: false,
    pacemaker: new Pacemaker(() => ({ monoMs: performance.now(), bootMs: performance.now() })),
    noteEnd: ({ reason }) => calls.push(`note ${reason.kind === 'clock' ? reason.clock : reason.kind}`),
    snapshot: () => {
      calls.push('snapshot')
      return Promise.resolve()
    },
    activity: () => {},
    warn: code => calls.push(code),
    ...options,
  }, onRecord => new LaunchReader({ maxLineBytes: 1000, earlier: { usage: NO_USAGE, costUsd: 0 }, redact: text => text, onRecord }))
  const scene: Scene = {
    supervisor, calls, cpu: 0, ended: supervisor.run(),
    write: (value, stream = 'stdout') => listener({ stream, bytes: Buffer.from(typeof value === 'string' ? value : `${JSON.stringify(value)}\n`) }),
  }
  return scene
}
const INIT = { type: 'system', subtype: 'init', model: 'm', session_id: 's' }
const BEAT = { type: 'system', subtype: 'heartbeat', state: 'running', phase: 'in_turn', since_last_activity_ms: 0 }
const clockOf = (reason: EndReason | null): string | null => reason?.kind === 'clock' ? reason.clock : reason?.kind ?? null

describe('supervising a launch', () => {
  it('notes the reason, takes the snapshot, then ends by the ladder, when a clock runs out', async () => {
    const scene = newScene({ idleTimeoutMs: 10_000 })
    scene.write(INIT)
    await vi.advanceTimersByTimeAsync(9900)
    expect(scene.calls).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    expect(scene.calls).toEqual(['note idle', 'snapshot', 'end ladder'])
    expect(clockOf((await scene.ended).endedBy)).toBe('idle')
  })

  it('looks once more before it believes a deadline: a record read just then saves the child', async () => {
    const scene = newScene({ idleTimeoutMs: 10_000 })
    scene.write(INIT)
    await vi.advanceTimersByTimeAsync(10_100)
    scene.write({ type: 'assistant', message: { content: [] } })
    await vi.advanceTimersByTimeAsync(9000)
    expect(scene.calls).toEqual([])
  })

  it('is not held up by a child that chatters on stderr or writes noise (R-65, R-104)', async () => {
    const scene = newScene({ idleTimeoutMs: 10_000 })
    scene.write(INIT)
    for (let passed = 0; passed < 12_000; passed += 100) {
      scene.write('chatter\n', 'stderr')
      scene.write('noise\n')
      await vi.advanceTimersByTimeAsync(100)
    }
    expect(scene.calls).toEqual(['note idle', 'snapshot', 'end ladder'])
  })

  it('ends a dead event loop only while the CPU time of the tree stands still', async () => {
    const busy = newScene({ heartbeatMs: 5000 })
    busy.write(INIT)
    busy.write(BEAT)
    for (let passed = 0; passed < 60_000; passed += 500) {
      busy.cpu += 1
      await vi.advanceTimersByTimeAsync(500)
    }
    expect(busy.calls).toEqual([])
    const dead = newScene({ heartbeatMs: 5000 })
    dead.write(INIT)
    dead.write(BEAT)
    await vi.advanceTimersByTimeAsync(25_000)
    expect([dead.calls[0], clockOf((await dead.ended).endedBy)]).toEqual(['note event-loop', 'event-loop'])
    busy.supervisor.end({ kind: 'stop' }, 'now')
    await busy.ended
  })

  it('starts every window anew after a pause of this program (SEMANTICS 13)', async () => {
    let clock = 0
    const pacemaker = new Pacemaker(() => ({ monoMs: clock, bootMs: clock }))
    const scene = newScene({ idleTimeoutMs: 10_000 }, { pacemaker })
    scene.write(INIT)
    await vi.advanceTimersByTimeAsync(9000)
    clock += 60_000
    await vi.advanceTimersByTimeAsync(9000)
    expect(scene.calls).toEqual([])
    await vi.advanceTimersByTimeAsync(3000)
    expect(scene.calls[0]).toBe('note idle')
  })

  it('ends at once without a snapshot when asked to, also in the middle of a ladder', async () => {
    const scene = newScene()
    scene.supervisor.end({ kind: 'abort' }, 'now')
    expect(scene.calls).toEqual(['note abort', 'end now'])
    expect((await scene.ended).endedBy).toEqual({ kind: 'abort' })
    const slow = newScene({}, { snapshot: () => new Promise(() => {}) })
    slow.supervisor.end({ kind: 'stop' }, 'ladder')
    slow.supervisor.end({ kind: 'abort' }, 'now')
    expect(slow.calls).toEqual(['note stop', 'end now'])
  })

  it('keeps the first reason', async () => {
    const scene = newScene({ idleTimeoutMs: 10_000 })
    scene.write(INIT)
    scene.supervisor.end({ kind: 'stop' }, 'ladder')
    scene.supervisor.end({ kind: 'abort' }, 'ladder')
    await vi.advanceTimersByTimeAsync(60_000)
    expect([(await scene.ended).endedBy, scene.calls]).toEqual([{ kind: 'stop' }, ['note stop', 'snapshot', 'end ladder']])
  })

  it('says in a dry run once per standstill what it would end', async () => {
    const scene = newScene({ idleTimeoutMs: 10_000, maxRuntimeMs: 0 }, { dryRun: true })
    scene.write(INIT)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(scene.calls).toEqual(['watchdog-would-end'])
    scene.write(INIT)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(scene.calls).toEqual(['watchdog-would-end', 'watchdog-would-end'])
  })
})
