/** The ladder of DESIGN 5.6 on real trees. Grace times are seconds, so that a rung is told from the next one on a loaded machine. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LiveLaunch } from '../../src/executor/keeper/launch-types.ts'
import { isGone, LaunchRig, until } from '../support/launch-rig.ts'

let rig: LaunchRig
beforeEach(() => { rig = new LaunchRig() })
afterEach(() => rig.dispose())

/** Starts `script` under bash and waits until it has written `ready`. */
async function startReady(script: string, killGraceMs: number): Promise<LiveLaunch> {
  const launch = await rig.start(rig.request(['bash', '-c', script], { killGraceMs }))
  await until('child ready', () => rig.read('tree', 'ready') !== '')
  return launch
}

const signals = (): readonly string[] => rig.read('tree', 'signals').split('\n').filter(Boolean)

test('SIGINT comes first, alone, and to the child only (OC 4)', async () => {
  const launch = await startReady(`
    for s in INT TERM; do trap "echo child $s >> signals; exit 7" $s; done
    bash -c 'for s in INT TERM; do trap "echo tool $s >> signals" $s; done; echo > ready; while :; do sleep 0.1; done' &
    while :; do sleep 0.05; done`, 20_000)
  await launch.end('ladder')
  expect((await launch.exited).exit).toEqual({ known: true, code: 7, signal: null })
  expect(signals()).toEqual(['child INT'])
  expect(rig.marked()).toEqual([])
})

test('a child that ignores SIGINT gets SIGTERM after half of the grace', async () => {
  const launch = await startReady('trap "echo INT >> signals" INT; trap "echo TERM >> signals; exit 8" TERM; echo > ready; while :; do sleep 0.05; done', 4000)
  const from = performance.now()
  await launch.end('ladder')
  expect(performance.now() - from).toBeGreaterThan(1900)
  expect((await launch.exited).exit).toEqual({ known: true, code: 8, signal: null })
  expect(signals()).toEqual(['INT', 'TERM'])
})

test('a child that ignores both is killed after the grace, with its whole tree (F14)', async () => {
  const launch = await startReady('trap "" INT TERM; setsid bash -c "echo \\$\\$ > pid; while :; do sleep 0.1; done" & echo > ready; while :; do sleep 0.05; done', 1000)
  const tool = await rig.pidFrom('pid')
  const from = performance.now()
  await launch.end('ladder')
  expect(performance.now() - from).toBeGreaterThan(950)
  expect((await launch.exited).exit).toEqual({ known: true, code: null, signal: 'SIGKILL' })
  expect([isGone(tool), rig.marked()]).toEqual([true, []])
})

test('urgency now, or no grace at all, kills at once; a stronger end shortens a weaker one', async () => {
  const stubborn = 'trap "echo signal >> signals" INT TERM; echo > ready; while :; do sleep 0.05; done'
  const launch = await startReady(stubborn, 600_000)
  const weak = launch.end('ladder')
  await until('first signal', () => signals().length > 0)
  await launch.end('now')
  await weak
  expect((await launch.exited).exit).toEqual({ known: true, code: null, signal: 'SIGKILL' })
  expect(signals()).toEqual(['signal'])

  const immediate = await rig.start(rig.request(['bash', '-c', stubborn], { killGraceMs: 0 }))
  await immediate.end('ladder')
  expect((await immediate.exited).exit).toEqual({ known: true, code: null, signal: 'SIGKILL' })
})

test('a stopped child is seen as stopped, then ended by SIGTERM and SIGCONT, never continued before (F13)', async () => {
  const launch = await startReady('trap "echo TERM >> signals; exit 9" TERM; trap "echo INT >> signals" INT; echo > ready; kill -STOP $$; while :; do sleep 0.05; done', 20_000)
  await until('child stopped', () => launch.stopped())
  await launch.end('ladder')
  expect((await launch.exited).exit).toEqual({ known: true, code: 9, signal: null })
  expect(signals()).toEqual(['TERM'])
})

test('a stopped child that ignores SIGTERM is killed after the grace (F13)', async () => {
  const launch = await startReady('trap "" TERM; echo > ready; kill -STOP $$; while :; do sleep 0.05; done', 500)
  await until('child stopped', () => launch.stopped())
  await launch.end('ladder')
  expect((await launch.exited).exit).toEqual({ known: true, code: null, signal: 'SIGKILL' })
})

test('ending a launch that has ended does nothing', async () => {
  const launch = await rig.start(rig.request(['true']))
  await launch.exited
  await Promise.all([launch.end('ladder'), launch.end('now')])
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 0 })
})

test('the CPU time of the whole tree grows while a descendant works', async () => {
  const launch = await startReady('bash -c "while :; do :; done" & echo > ready; wait', 1000)
  const first = launch.cpuTicks() ?? 0
  await until('20 ticks used', () => (launch.cpuTicks() ?? 0) >= first + 20)
  await launch.end('now')
})
