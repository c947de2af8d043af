import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import type { AttemptOutcome, LaunchFact } from '../../src/core/attempt-types.ts'
import { MARKER_NAME } from '../../src/executor/process/child-env.ts'
import { writeEndNote } from '../../src/executor/openclaude/end-note.ts'
import { newOpenClaudeRig, type OpenClaudeRig, type OpenClaudeRigOptions } from '../support/openclaude-rig.ts'
import { isAlive, until, withEnvironment } from '../support/processes.ts'
import type { EngineSpec } from '../children/attempt-engine.ts'

const ENGINE = fileURLToPath(new URL('../children/attempt-engine.ts', import.meta.url))

interface Scene {
  readonly rig: OpenClaudeRig
  readonly facts: () => LaunchFact[]
  readonly kinds: () => string[]
  readonly startEngine: () => ChildProcess
  readonly outcome: () => AttemptOutcome
  readonly go: () => void
}

const scenes: Scene[] = []
const engines: ChildProcess[] = []
afterAll(() => {
  for (const engine of engines.splice(0)) engine.kill('SIGKILL')
  for (const { rig, facts } of scenes.splice(0)) {
    for (const fact of facts()) {
      if (fact.kind === 'launch-intended') for (const pid of withEnvironment(MARKER_NAME, fact.marker)) process.kill(pid, 'SIGKILL')
    }
    rig.attempt.remove()
  }
})

const newScene = (options: OpenClaudeRigOptions): Scene => {
  const rig = newOpenClaudeRig(options)
  const { root, request, workspace } = rig.attempt
  const spec: EngineSpec = { config: rig.config, request, facts: join(root, 'facts'), outcome: join(root, 'outcome') }
  writeFileSync(join(root, 'spec'), JSON.stringify(spec))
  const facts = (): LaunchFact[] => existsSync(spec.facts)
    ? readFileSync(spec.facts, 'utf8').split('\n').slice(0, -1).map(line => JSON.parse(line) as LaunchFact)
    : []
  const scene: Scene = {
    rig, facts,
    kinds: () => facts().map(fact => fact.kind),
    startEngine: () => {
      const engine = spawn(process.execPath, [ENGINE, join(root, 'spec')], { stdio: ['ignore', 'inherit', 'inherit'] })
      engines.push(engine)
      return engine
    },
    outcome: () => JSON.parse(readFileSync(spec.outcome, 'utf8')) as AttemptOutcome,
    go: () => writeFileSync(join(workspace, 'go'), ''),
  }
  scenes.push(scene)
  return scene
}

const killed = async (engine: ChildProcess): Promise<void> => {
  engine.kill('SIGKILL')
  await once(engine, 'exit')
}
const ended = async (engine: ChildProcess): Promise<void> => {
  if (engine.exitCode === null) await once(engine, 'exit')
  expect(engine.exitCode).toBe(0)
}
const WAITING: OpenClaudeRigOptions = {
  scenario: { rules: [
    { when: { launch: 'fresh' }, play: [{ do: 'read', path: 'x' }, { do: 'wait-for-file', path: 'go' }, { do: 'text', text: 'Done by {{session}}.' }] },
    { play: [{ do: 'text', text: 'Resumed and done.' }] },
  ] },
  config: { idleTimeoutMs: 30_000 },
}

describe.concurrent('an attempt whose engine was killed', () => {
  it('is adopted: the work of the living child is accepted without a second launch (F28)', async () => {
    const scene = newScene(WAITING)
    const first = scene.startEngine()
    await until(() => scene.kinds().includes('launch-first-record'), 'the first record')
    await killed(first)
    const second = scene.startEngine()
    await until(() => scene.kinds().includes('launch-adopted'), 'adoption')
    scene.go()
    await ended(second)
    const outcome = scene.outcome()
    expect([outcome.kind, outcome.launches, outcome.result?.text, outcome.exit])
      .toEqual(['succeeded', 1, `Done by ${outcome.sessionId}.`, { known: true, code: 0, signal: null }])
    expect([scene.rig.simLaunches().length, scene.kinds()])
      .toEqual([1, ['launch-intended', 'launch-live', 'launch-first-record', 'launch-adopted', 'launch-ended', 'launch-swept']])
  })

  it('takes the end from the files when the child ended meanwhile', async () => {
    const scene = newScene(WAITING)
    const first = scene.startEngine()
    await until(() => scene.kinds().includes('launch-first-record'), 'the first record')
    await killed(first)
    scene.go()
    await until(() => existsSync(join(scene.rig.attempt.request.attemptDir, 'l1', 'exit.json')), 'the end')
    await ended(scene.startEngine())
    expect([scene.outcome().kind, scene.outcome().launches, scene.rig.simLaunches().length]).toEqual(['succeeded', 1, 1])
  })

  it('is resumed with its session when the child died with the engine', async () => {
    const scene = newScene(WAITING)
    const first = scene.startEngine()
    await until(() => scene.kinds().includes('launch-first-record'), 'the first record')
    await killed(first)
    const live = scene.facts().find(fact => fact.kind === 'launch-live')
    for (const identity of [live?.keeper, live?.child]) if (identity !== undefined && identity !== null) process.kill(identity.pid, 'SIGKILL')
    await until(() => [live?.keeper, live?.child].every(identity => !isAlive(identity?.pid ?? 0)), 'their end')
    await ended(scene.startEngine())
    expect([scene.outcome().kind, scene.outcome().launches]).toEqual(['succeeded', 2])
    expect(scene.facts().filter(fact => fact.kind === 'launch-intended').map(({ mode, reason }) => [mode, reason])).toEqual([['fresh', 'first'], ['resume', 'engine-restart']])
    expect(scene.rig.simLaunches()[1]?.prompt).toContain('the program that supervises it was restarted')
  })

  it('goes on ending a launch that the dead engine had begun to end, for the same reason', async () => {
    const scene = newScene(WAITING)
    const first = scene.startEngine()
    await until(() => scene.kinds().includes('launch-first-record'), 'the first record')
    await killed(first)
    writeEndNote(join(scene.rig.attempt.request.attemptDir, 'l1'), { reason: { kind: 'clock', clock: 'tool' }, stdoutBytes: 1_000_000 })
    await ended(scene.startEngine())
    expect(scene.facts().find(fact => fact.kind === 'launch-ended')?.end.endedBy).toEqual({ kind: 'clock', clock: 'tool' })
    expect([scene.outcome().kind, scene.outcome().launches]).toEqual(['succeeded', 2])
  })

  it('stops by a signal to the engine and is resumed by the next one, same attempt, same session (F27)', async () => {
    const scene = newScene(WAITING)
    const first = scene.startEngine()
    await until(() => scene.kinds().includes('launch-first-record'), 'the first record')
    first.kill('SIGTERM')
    await ended(first)
    expect(scene.outcome().kind).toBe('stopped')
    await ended(scene.startEngine())
    expect([scene.outcome().kind, scene.outcome().launches]).toEqual(['succeeded', 2])
    const [one, two] = scene.rig.simLaunches()
    expect([two?.launch, two?.session]).toEqual(['resume', one?.session])
  })

  it('does not end a child because the engine itself stood still (F12)', async () => {
    const scene = newScene({
      scenario: { rules: [{ play: [{ do: 'init' }, { do: 'wait-for-file', path: 'go' }, { do: 'text', text: 'ok' }] }] },
      config: { idleTimeoutMs: 4000, heartbeat: '' },
    })
    const engine = scene.startEngine()
    await until(() => scene.kinds().includes('launch-first-record'), 'the first record')
    engine.kill('SIGSTOP')
    // Longer than the window: only the re-arming keeps the child alive.
    await sleep(6000)
    engine.kill('SIGCONT')
    await sleep(1500)
    scene.go()
    await ended(engine)
    expect([scene.outcome().kind, scene.outcome().launches]).toEqual(['succeeded', 1])
  })
})
