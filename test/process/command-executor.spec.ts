import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ResolvedConfig } from '../../src/core/config-types.ts'
import { newLaunches } from '../../src/core/launches.ts'
import { MARKER_NAME } from '../../src/executor/process/child-env.ts'
import { createCommandExecutor } from '../../src/executor/plain/command.ts'
import type { AttemptHandle } from '../../src/executor/executor.ts'
import { newAttemptRig, type AttemptRig, type RigOptions } from '../support/attempt-rig.ts'
import { until, withEnvironment } from '../support/processes.ts'
import { testConfig } from '../support/test-config.ts'

const rigs: AttemptRig[] = []
afterEach(() => {
  for (const rig of rigs.splice(0)) rig.remove()
})

const start = (command: string, config: Partial<ResolvedConfig> = {}, options: RigOptions = {}): { rig: AttemptRig, handle: AttemptHandle } => {
  const rig = newAttemptRig({ ...options, request: { command, ...options.request } })
  rigs.push(rig)
  const executor = createCommandExecutor(testConfig(config), { environment: process.env, envMode: 'inherit' })
  return { rig, handle: executor.start(rig.request, rig.ports) }
}
const nothingLeft = (rig: AttemptRig): boolean => rig.of('launch-intended').every(({ marker }) => withEnvironment(MARKER_NAME, marker).length === 0)

describe('executor "command"', () => {
  it('runs a command line in the workspace and reports each step (R-52)', async () => {
    const { rig, handle } = start('echo made > file.txt; echo said')
    const outcome = await handle.outcome
    expect([outcome.kind, outcome.message, outcome.launches, outcome.exit, outcome.stderrTail])
      .toEqual(['succeeded', 'The command reported success (exit code 0).', 1, { known: true, code: 0, signal: null }, 'said\n'])
    expect(rig.kinds()).toEqual(['launch-intended', 'launch-live', 'launch-first-record', 'launch-ended', 'launch-swept'])
    expect(readFileSync(join(rig.workspace, 'file.txt'), 'utf8')).toBe('made\n')
    expect(readFileSync(join(rig.request.attemptDir, 'l1', 'output.log'), 'utf8')).toBe('said\n')
    expect(rig.of('launch-intended')[0]?.dir).toBe('t0-task/a1/l1')
  })

  it('keeps the exit code of a failure (R-70, R-98)', async () => {
    const outcome = await start('echo why >&2; exit 7').handle.outcome
    expect([outcome.kind, outcome.exit, outcome.stderrTail, outcome.message])
      .toEqual(['agent-error', { known: true, code: 7, signal: null }, 'why\n', 'The command ended with an error (exit code 7); 1 launch.'])
  })

  it('reports death by a signal as that signal (R-70)', async () => {
    const outcome = await start('kill -USR1 $$').handle.outcome
    expect([outcome.kind, outcome.exit]).toEqual(['agent-error', { known: true, code: null, signal: 'SIGUSR1' }])
  })

  it('ends at the task\'s run-time limit with the whole tree (R-19)', async () => {
    const { rig, handle } = start('setsid sleep 300 & sleep 300', {}, { request: { timeouts: { maxRuntimeMs: 500 } } })
    const outcome = await handle.outcome
    expect([outcome.kind, outcome.clock, nothingLeft(rig)]).toEqual(['overrun', 'max-runtime', true])
  })

  it('ends by stop, abort and now, and says which (R-77, R-94)', async () => {
    const endings = [['stop', 'stopped', 'stop'], ['abort', 'aborted', 'abort'], ['now', 'stopped', 'stop']] as const
    for (const [request, kind, endedBy] of endings) {
      const { rig, handle } = start('trap "" TERM; while :; do sleep 1; done', { killGraceMs: request === 'now' ? 60_000 : 300 })
      await until(() => !nothingLeft(rig), 'the command')
      handle.end(request)
      expect([(await handle.outcome).kind, rig.of('launch-ended')[0]?.end.endedBy, nothingLeft(rig)]).toEqual([kind, { kind: endedBy }, true])
    }
  })

  it('starts nothing after an end that came first', async () => {
    const { rig, handle } = start('touch started')
    handle.end('abort')
    expect((await handle.outcome).kind).toBe('aborted')
    expect(rig.facts).toEqual([])
  })

  it('reruns once after a kill from outside, then gives up (F29)', async () => {
    const { rig, handle } = start('kill -9 $$')
    const outcome = await handle.outcome
    expect([outcome.kind, outcome.launches, rig.of('launch-intended').map(fact => fact.reason)]).toEqual(['killed-externally', 2, ['first', 'killed-externally']])
  })

  it('ends what an earlier engine left running, then runs again (F28)', async () => {
    const marker = randomUUID()
    const left = spawn('sleep', ['300'], { env: { ...process.env, [MARKER_NAME]: marker }, detached: true, stdio: 'ignore' })
    const launches = newLaunches()
    launches.launches.push({
      launch: 1, mode: 'fresh', reason: 'first', sessionId: '', marker, dir: 't0-task/a1/l1', status: 'live', keeper: null, child: null, adopted: 0,
      firstRecord: false, end: null, tree: null, swept: null,
    })
    const { rig, handle } = start('echo again', {}, { request: { launches } })
    expect((await handle.outcome).kind).toBe('succeeded')
    expect([left.pid === undefined, withEnvironment(MARKER_NAME, marker)]).toEqual([false, []])
    expect(rig.kinds().slice(0, 3)).toEqual(['launch-ended', 'launch-swept', 'launch-intended'])
    expect(rig.of('launch-intended')[0]).toMatchObject({ launch: 2, reason: 'engine-restart' })
    expect(rig.of('launch-swept')[0]).toMatchObject({ launch: 1, result: 'clean', ended: 1 })
  })

  it('says that a missing working directory kept it from starting (F23)', async () => {
    const { rig, handle } = start('true', {}, { request: { cwd: '/no/such/folder' } })
    const outcome = await handle.outcome
    expect([outcome.kind, outcome.spawnFailure?.reason, rig.kinds().at(-1)]).toEqual(['spawn-failed', 'missing-cwd', 'launch-spawn-failed'])
  })

  it('lets no secret out of the launch (T22)', async () => {
    const { rig, handle } = start('echo token tvly-123; exit 1', {}, { secrets: ['tvly-123'] })
    const outcome = await handle.outcome
    expect(outcome.stderrTail).toBe('token ***\n')
    expect(JSON.stringify([outcome, rig.facts, readFileSync(join(rig.request.attemptDir, 'l1', 'output.log'), 'utf8')])).not.toContain('tvly-123')
  })

  it('passes the configured environment on, and its own marker (R-24)', async () => {
    const { rig, handle } = start(`printf '%s' "$GIVEN $${MARKER_NAME}" > env.txt`, { env: { GIVEN: 'value' } })
    await handle.outcome
    expect(readFileSync(join(rig.workspace, 'env.txt'), 'utf8')).toBe(`value ${rig.of('launch-intended')[0]?.marker}`)
  })
})
