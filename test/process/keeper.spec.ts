/** The keeper by itself: what it records, what it refuses, how it bounds a child, and that it leaves. */
import { chmodSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startLaunch } from '../../src/executor/keeper/launch.ts'
import type { LaunchRequest } from '../../src/executor/keeper/launch-types.ts'
import { listProcesses, readProcess } from '../../src/executor/process/process-table.ts'
import { collect, isGone, LaunchRig, until } from '../support/launch-rig.ts'

let rig: LaunchRig
beforeEach(() => { rig = new LaunchRig() })
afterEach(() => rig.dispose())

const sh = (script: string): readonly string[] => ['sh', '-c', script]

test('a launch delivers every byte of both streams, its exit code, and leaves nothing running (R-63)', async () => {
  const request = rig.request(sh('cat; echo diagnosis >&2; exit 3'), { prompt: 'wörds\n' })
  const launch = await rig.start(request)
  const output = collect()
  launch.onChunk(output.listener)
  expect(await launch.exited).toEqual({ exit: { known: true, code: 3, signal: null }, endedByKeeper: null, durationMs: expect.any(Number) as number })
  expect([output.text('stdout'), output.text('stderr')]).toEqual(['wörds\n', 'diagnosis\n'])
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 0 })
  await until('keeper gone', () => isGone(launch.keeper.pid))
  expect(rig.marked()).toEqual([])
})

test('a child that exits at once loses none of its last words, on either stream', async () => {
  const one = async (): Promise<readonly string[]> => {
    const launch = await rig.start(rig.request(sh('echo out; echo reason >&2; exit 1')))
    const output = collect()
    launch.onChunk(output.listener)
    await launch.exited
    return [output.text('stdout'), output.text('stderr')]
  }
  for (let round = 0; round < 4; round++) {
    expect(await Promise.all(Array.from({ length: 6 }, one))).toEqual(Array.from({ length: 6 }, () => ['out\n', 'reason\n']))
  }
})

test('a death by signal is recorded as the signal, not as a code', async () => {
  const launch = await rig.start(rig.request(sh('kill -KILL $$')))
  expect((await launch.exited).exit).toEqual({ known: true, code: null, signal: 'SIGKILL' })
})

test('neither the prompt nor a value of the environment is on disk, and files are for the owner alone', async () => {
  const request = rig.request(sh('true'), { prompt: 'secret-prompt' })
  const launch = await rig.start({ ...request, env: { ...request.env, API_KEY: 'secret-key' } })
  await launch.exited
  const names = readdirSync(request.dir).toSorted()
  expect(names).toEqual(['claim', 'exit.json', 'launch.json', 'spec.json', 'stderr.log', 'stdout.ndjson'])
  const files = names.filter(name => name !== 'claim').map(name => join(request.dir, name))
  expect(files.map(path => statSync(path).mode & 0o777)).toEqual(files.map(() => 0o600))
  const all = names.map(name => rig.read('l1', name)).join('')
  expect(all).toContain('API_KEY')
  expect(all).not.toContain('secret')
})

test('the child is the only one with its environment; the keeper has three names', async () => {
  const request = rig.request(sh('sleep 60'))
  const launch = await rig.start({ ...request, env: { ...request.env, API_KEY: 'secret-key' } })
  const environ = readFileSync(`/proc/${launch.keeper.pid}/environ`, 'utf8')
  const names = environ.split('\0').filter(Boolean).map(entry => entry.replace(/=.*/s, ''))
  expect(names.toSorted()).toEqual(['DSH_TEST_MARK', 'HOME', 'PATH'])
  await launch.end('now')
})

test('a spawn that fails says which of the causes it was, and a child never exists (F23, F24)', async () => {
  writeFileSync(join(rig.workspace, 'plain'), '#!/bin/sh\n')
  writeFileSync(join(rig.workspace, 'lost'), '#!/no/such/interpreter\n')
  chmodSync(join(rig.workspace, 'lost'), 0o755)
  writeFileSync(join(rig.workspace, 'file'), '')
  const failed = async (argv: readonly string[], overrides: Partial<LaunchRequest> = {}): Promise<string> => {
    const started = await startLaunch(rig.request(argv, overrides))
    return started.kind === 'failed' ? `${started.failure.key.replace(rig.workspace, '.')} | ${started.failure.message.replaceAll(rig.workspace, '.')}` : 'started'
  }
  const env = { PATH: '/bin:/usr/bin' }
  expect([
    await failed(['no-such-program'], { env }),
    await failed([join(rig.workspace, 'absent')]),
    await failed(['./plain']),
    await failed(['./lost']),
    await failed(['true'], { cwd: join(rig.workspace, 'absent') }),
    await failed(['true'], { cwd: join(rig.workspace, 'file') }),
    await failed(['true', 'x'.repeat(200_000)], { env }),
    await failed(['true', 'a\0b'], { env }),
  ]).toEqual([
    'not-found:no-such-program | The program no-such-program was found at none of: /bin/no-such-program, /usr/bin/no-such-program. Install it or correct the name.',
    'not-found:./absent | The program ./absent was found at none of: ./absent. Install it or correct the name.',
    'not-executable:./plain | The program ./plain is not executable; set its executable bit.',
    'bad-interpreter:./lost | The interpreter named in the first line of ./lost does not exist; correct that line.',
    'missing-cwd:./absent | The working directory ./absent does not exist; create it or correct the path.',
    'missing-cwd:./file | The working directory ./file is no directory; create it or correct the path.',
    'argument-too-long:true | The arguments of true are too long for this system (longest: 200000 bytes); pass long text through stdin.',
    'bad-argument:true | An argument or environment value of true holds a NUL byte or is empty; remove it.',
  ])
  await until('keepers gone', () => rig.marked().length === 0)
})

test('a launch directory that is gone is a failure of the keeper, not of the engine', async () => {
  const request = rig.request(sh('true'))
  const started = await startLaunch({ ...request, dir: join(request.dir, 'absent') })
  expect(started).toMatchObject({ kind: 'failed', failure: { reason: 'keeper', key: 'keeper' } })
})

test('a child that exits before it reads a 1 MiB prompt ends with its own code (F21)', async () => {
  const launch = await rig.start(rig.request(sh('exec <&-; sleep 0.2; exit 4'), { prompt: 'p'.repeat(2 ** 20) }))
  expect((await launch.exited).exit).toEqual({ known: true, code: 4, signal: null })
})

test('a grandchild that holds stdout delays the end by two seconds, not by its life (F16)', async () => {
  const launch = await rig.start(rig.request(sh('sleep 300 & echo $! > pid; echo last words; exit 0')))
  const output = collect()
  launch.onChunk(output.listener)
  const from = performance.now()
  expect((await launch.exited).exit).toEqual({ known: true, code: 0, signal: null })
  expect(performance.now() - from).toBeLessThan(20_000)
  expect(output.text('stdout')).toBe('last words\n')
  const holder = await rig.pidFrom('pid')
  expect(isGone(holder)).toBe(false)
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 1 })
  expect(isGone(holder)).toBe(true)
})

test('a flood of stdout is ended at the cap, the first bytes stay, and the keeper stays small (F17)', async () => {
  const launch = await rig.start(rig.request(sh('yes 0123456789abcde'), { maxStreamBytes: 50_000_000, killGraceMs: 400 }))
  let bytes = 0
  let peakKb = 0
  launch.onChunk((chunk) => {
    if (chunk.stream === 'stdout') bytes += chunk.bytes.length
    peakKb = Math.max(peakKb, residentKb(launch.keeper.pid))
  })
  const end = await launch.exited
  expect(end).toMatchObject({ endedByKeeper: { kind: 'flooded' }, exit: { known: true, code: null } })
  expect([bytes, statSync(join(rig.folder, 'l1', 'stdout.ndjson')).size]).toEqual([50_000_000, 50_000_000])
  expect(peakKb).toBeGreaterThan(0)
  expect(peakKb).toBeLessThan(200_000)
  expect(rig.marked()).toEqual([])
})

test('a flood of stderr keeps its head and its end, and ends nothing', async () => {
  const launch = await rig.start(rig.request(sh('yes error | head -c 3000000 >&2; echo the last error >&2; exit 1'), { maxStreamBytes: 100_000 }))
  expect(await launch.exited).toMatchObject({ endedByKeeper: null, exit: { known: true, code: 1, signal: null } })
  const stderr = rig.read('l1', 'stderr.log')
  expect(stderr.startsWith('error\nerror\n')).toBe(true)
  expect(stderr.endsWith('error\nthe last error\n')).toBe(true)
  expect(stderr).toContain(`\n[${3_000_015 - 100_000 - 65_536} bytes left out]\n`)
  expect(Buffer.byteLength(stderr)).toBeLessThan(170_000)
})

test('the keeper ends a child at its run-time bound with no engine acting (SEMANTICS 7)', async () => {
  const launch = await rig.start(rig.request(sh('sleep 300'), { maxRuntimeMs: 300, killGraceMs: 100 }))
  expect(await launch.exited).toMatchObject({ endedByKeeper: { kind: 'keeper-bound' }, exit: { known: true, code: null } })
})

test('SIGHUP and SIGINT do not end a keeper; SIGTERM makes it end its tree and record that', async () => {
  const launch = await rig.start(rig.request(sh('echo $$ > pid; sleep 300'), { killGraceMs: 200 }))
  const child = await rig.pidFrom('pid')
  process.kill(launch.keeper.pid, 'SIGHUP')
  process.kill(launch.keeper.pid, 'SIGINT')
  process.kill(launch.keeper.pid, 'SIGTERM')
  expect(await launch.exited).toMatchObject({ endedByKeeper: { kind: 'stop' }, exit: { known: true } })
  expect(isGone(child)).toBe(true)
})

test('keeper and child live in sessions of their own, outside the workspace', async () => {
  const launch = await rig.start(rig.request(sh('sleep 300')))
  const child = launch.child
  expect(child).not.toBeNull()
  const session = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3] ?? ''
  expect([session(launch.keeper.pid), session(child?.pid ?? 0)]).toEqual([String(launch.keeper.pid), String(child?.pid)])
  expect(readlinkSync(`/proc/${launch.keeper.pid}/cwd`)).toBe('/')
  expect(readProcess(child?.pid ?? 0)?.ppid).toBe(launch.keeper.pid)
  await launch.end('now')
})

test('twenty launches leave no zombie and no process (F22)', async () => {
  const one = async (): Promise<void> => { await (await rig.start(rig.request(sh('true')))).exited }
  for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 4 }, one))
  await until('all gone', () => rig.marked().length === 0)
  await until('no zombie of ours', () => !listProcesses().some(row => row.ppid === process.pid && row.state === 'Z'))
})

function residentKb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    // The keeper has just ended.
    return 0
  }
}
