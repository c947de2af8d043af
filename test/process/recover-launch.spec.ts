/** The table of SEMANTICS 7: what the next engine finds, one row a test. `adoption.spec.ts` proves the same at random instants. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ProcessIdentity } from '../../src/core/attempt-types.ts'
import { identify, ownOrigin } from '../../src/executor/process/identity.ts'
import { claimLaunch, LAUNCH_FILES, readLaunchFile, writeWhole } from '../../src/executor/keeper/launch-files.ts'
import type { LaunchRequest, RecoveredLaunch } from '../../src/executor/keeper/launch-types.ts'
import { readProcess } from '../../src/executor/process/process-table.ts'
import { recoverLaunch } from '../../src/executor/keeper/recover-launch.ts'
import { collect, isGone, LaunchRig, MARK, until } from '../support/launch-rig.ts'

const KEEPER = fileURLToPath(new URL('../../src/executor/keeper/keeper.ts', import.meta.url))
const ENGINE = fileURLToPath(new URL('../children/one-launch-engine.ts', import.meta.url))

let rig: LaunchRig
beforeEach(() => { rig = new LaunchRig() })
afterEach(() => rig.dispose())

/** Runs the request under an engine of its own and kills that with SIGKILL once the launch is live. */
async function leaveBehind(request: LaunchRequest): Promise<{ readonly keeper: ProcessIdentity, readonly child: ProcessIdentity }> {
  const engine = spawn(process.execPath, [ENGINE], { stdio: ['pipe', 'pipe', 'inherit'] })
  engine.stdin.write(`${JSON.stringify(request)}\n`)
  await once(engine.stdout, 'data')
  engine.kill('SIGKILL')
  await once(engine, 'exit')
  const file = readLaunchFile(request.dir)
  if (file === null || file.child === null) throw new Error('the launch is not live')
  return { keeper: file.keeper, child: file.child }
}

function adopted(found: RecoveredLaunch): Extract<RecoveredLaunch, { kind: 'adopted' }>['launch'] {
  if (found.kind !== 'adopted') throw new Error(`not adopted: ${JSON.stringify(found)}`)
  return found.launch
}

async function endedFacts(found: RecoveredLaunch): Promise<{ readonly exit: unknown, readonly stdout: string }> {
  if (found.kind !== 'ended') throw new Error(`not ended: ${JSON.stringify(found)}`)
  const output = collect()
  await found.read(output.listener)
  return { exit: found.exit, stdout: output.text('stdout') }
}

test('a child whose engine was killed is adopted, with every byte from the start and its real exit code (F28)', async () => {
  const request = rig.request(['bash', '-c', 'echo first; while [ ! -e go ]; do sleep 0.05; done; echo second; exit 5'])
  const left = await leaveBehind(request)
  await until('first line', () => rig.read('l1', LAUNCH_FILES.stdout) === 'first\n')
  const then = new Date(Date.now() - 3_600_000)
  utimesSync(join(request.dir, LAUNCH_FILES.stdout), then, then)
  const launch = adopted(await recoverLaunch(rig.recovery(request)))
  expect({ keeper: launch.keeper, child: launch.child }).toEqual(left)
  expect(launch.progressAgeMs).toBeGreaterThan(3_599_000)
  const output = collect()
  launch.onChunk(output.listener)
  writeFileSync(join(rig.workspace, 'go'), '')
  expect(await launch.exited).toEqual({ exit: { known: true, code: 5, signal: null }, endedByKeeper: null, durationMs: expect.any(Number) as number })
  expect(output.text('stdout')).toBe('first\nsecond\n')
})

test('an adopted child is ended by the same ladder as one of ours', async () => {
  const request = rig.request(['bash', '-c', 'trap "" INT TERM; setsid sleep 300 & echo ready; while :; do sleep 0.05; done'], { killGraceMs: 300 })
  const left = await leaveBehind(request)
  await until('ready', () => rig.read('l1', LAUNCH_FILES.stdout) === 'ready\n')
  const launch = adopted(await recoverLaunch(rig.recovery(request, left)))
  await launch.end('ladder')
  expect(await launch.exited).toMatchObject({ exit: { known: true, code: null, signal: 'SIGKILL' }, endedByKeeper: null })
  expect(await launch.sweep()).toMatchObject({ result: 'clean' })
  await until('all gone', () => rig.marked().length === 0)
})

test('with onEngineDeath end the keeper ends the tree when its engine dies', async () => {
  const request = rig.request(['bash', '-c', 'sleep 300'], { onEngineDeath: 'end', killGraceMs: 200 })
  const left = await leaveBehind(request)
  await until('keeper gone', () => isGone(left.keeper.pid))
  expect(isGone(left.child.pid)).toBe(true)
  expect(await recoverLaunch(rig.recovery(request, left))).toMatchObject({ kind: 'ended', exit: { endedByKeeper: { kind: 'stop' }, exit: { known: true } } })
})

test('a launch that ended while no engine lived is ended from its files', async () => {
  const request = rig.request(['bash', '-c', 'echo done; exit 6'])
  const left = await leaveBehind(request)
  await until('keeper gone', () => isGone(left.keeper.pid))
  expect(await endedFacts(await recoverLaunch(rig.recovery(request, left)))).toEqual({
    exit: { exit: { known: true, code: 6, signal: null }, endedByKeeper: null, durationMs: expect.any(Number) as number },
    stdout: 'done\n',
  })
})

test('a keeper that was killed leaves an unknown exit, and its child is ended before anybody takes its place', async () => {
  const request = rig.request(['bash', '-c', 'echo begun; trap "" PIPE; while :; do sleep 0.05; done'])
  const left = await leaveBehind(request)
  await until('output', () => rig.read('l1', LAUNCH_FILES.stdout) === 'begun\n')
  process.kill(left.keeper.pid, 'SIGKILL')
  await until('keeper gone', () => isGone(left.keeper.pid))
  const facts = await endedFacts(await recoverLaunch(rig.recovery(request, left)))
  expect(facts).toMatchObject({ exit: { exit: { known: false }, endedByKeeper: null }, stdout: 'begun\n' })
  expect(isGone(left.child.pid)).toBe(true)
})

test('a keeper killed under its living engine: the child is ended, the exit is unknown, nobody hangs', async () => {
  const launch = await rig.start(rig.request(['bash', '-c', 'trap "" PIPE; while :; do sleep 0.05; done']))
  process.kill(launch.keeper.pid, 'SIGKILL')
  expect(await launch.exited).toMatchObject({ exit: { known: false }, endedByKeeper: null })
  expect(isGone(launch.child?.pid ?? 0)).toBe(true)
})

test('an intent without any file never started, and nothing can start there any more', async () => {
  const request = rig.request(['bash', '-c', 'echo > started'])
  const found = await recoverLaunch(rig.recovery(request))
  expect(found.kind).toBe('never-started')
  // The keeper of the dead engine comes late, with its whole request.
  const keeper = spawn(process.execPath, [KEEPER, request.dir], { stdio: ['pipe', 'ignore', 'ignore'], env: { PATH: process.env['PATH'], [MARK]: request.marker.value } })
  keeper.stdin.write(`${JSON.stringify(request)}\n`)
  expect(await once(keeper, 'exit')).toEqual([0, null])
  expect([rig.read('tree', 'started'), readLaunchFile(request.dir)?.child]).toEqual(['', null])
  expect((await recoverLaunch(rig.recovery(request))).kind).toBe('never-started')
})

test('half a request starts nothing: a keeper whose pipe ends early leaves without a trace', async () => {
  const request = rig.request(['bash', '-c', 'echo > started'])
  const keeper = spawn(process.execPath, [KEEPER, request.dir], { stdio: ['pipe', 'ignore', 'ignore'], env: { PATH: process.env['PATH'] } })
  keeper.stdin.end(JSON.stringify(request).slice(0, -1))
  expect(await once(keeper, 'exit')).toEqual([0, null])
  expect(readdirSync(request.dir)).toEqual([])
})

test('a keeper that died between its claim and its spawn counts as started: nobody can know, so the tree is swept and the exit unknown', async () => {
  const request = rig.request(['true'])
  const dead = identify(process.pid)
  if (dead === null) throw new Error('no identity')
  writeWhole(join(request.dir, LAUNCH_FILES.launch), { v: 1, keeper: { ...dead, startTicks: '1' }, child: null, tag: null }, 'fast')
  expect(claimLaunch(request.dir, 'keeper')).toBe('keeper')
  const orphan = spawn('bash', ['-c', 'exec sleep 300'], { env: { PATH: process.env['PATH'], [MARK]: request.marker.value }, stdio: 'ignore' })
  await until('orphan marked', () => rig.marked().length === 1)
  expect(await recoverLaunch(rig.recovery(request))).toMatchObject({ kind: 'ended', exit: { exit: { known: false } } })
  await until('orphan gone', () => orphan.signalCode === 'SIGKILL')
})

test('a failed spawn that no engine read counts as never started', async () => {
  const request = rig.request(['/no/such/program'])
  const engine = spawn(process.execPath, [ENGINE], { stdio: ['pipe', 'pipe', 'inherit'] })
  engine.stdin.end(`${JSON.stringify(request)}\n`)
  await once(engine, 'exit')
  expect((await recoverLaunch(rig.recovery(request))).kind).toBe('never-started')
})

test('a launch of another PID namespace or host is named and not touched; one from before the last boot is over', async () => {
  const request = rig.request(['true'])
  const spec = { v: 1, argv: ['true'], cwd: '/', workspaceRoot: '/', envNames: [], marker: request.marker, limits: { maxStreamBytes: 1, maxRuntimeMs: 0, killGraceMs: 0 }, onEngineDeath: 'adopt' } as const
  const found = async (origin: { readonly bootId: string, readonly pidNs: string, readonly host: string }): Promise<RecoveredLaunch> => {
    writeWhole(join(request.dir, LAUNCH_FILES.spec), { ...spec, origin }, 'fast')
    return recoverLaunch(rig.recovery(request))
  }
  expect(await found({ ...ownOrigin(), pidNs: '1' })).toEqual({
    kind: 'foreign',
    message: `The launch in ${request.dir} was started on host ${ownOrigin().host}, boot ${ownOrigin().bootId}, PID namespace 1; from here its processes can be neither seen nor ended. Continue the run from there, or end it there first.`,
  })
  expect((await found({ bootId: 'x', pidNs: '1', host: 'elsewhere' })).kind).toBe('foreign')
  expect((await found({ bootId: 'x', pidNs: '1', host: ownOrigin().host })).kind).toBe('never-started')
})

test('after a power loss that took the launch directory the launch is over, with an unknown exit', async () => {
  const request = rig.request(['true'])
  const own = identify(process.pid)
  if (own === null) throw new Error('no identity')
  rmSync(request.dir, { recursive: true })
  const before = { ...own, bootId: 'the boot before' }
  expect(await recoverLaunch(rig.recovery(request, { keeper: before, child: before }))).toMatchObject({ kind: 'ended', exit: { exit: { known: false }, durationMs: 0 } })
})

test('a journal whose pids now belong to bystanders harms none of them (F25)', async () => {
  const bystander = spawn('sleep', ['300'], { stdio: 'ignore' })
  await once(bystander, 'spawn')
  const identity = identify(bystander.pid ?? 0)
  if (identity === null) throw new Error('no identity')
  const reused = { ...identity, startTicks: String(Number(identity.startTicks) - 50) }
  const request = rig.request(['true'])
  const found = await recoverLaunch(rig.recovery(request, { keeper: reused, child: reused }))
  expect(found).toMatchObject({ kind: 'ended', exit: { exit: { known: false } } })
  if (found.kind === 'ended') expect(await found.sweep()).toEqual({ result: 'clean', ended: 0 })
  // Even with every part right, a process without the marker is no keeper.
  expect((await recoverLaunch(rig.recovery(rig.request(['true']), { keeper: identity }))).kind).toBe('never-started')
  expect(isGone(identity.pid)).toBe(false)
  bystander.kill('SIGKILL')
  await once(bystander, 'exit')
})

test('a launch whose directory was removed is ended, keeper and child', async () => {
  const request = rig.request(['bash', '-c', 'while :; do sleep 0.05; done'])
  const left = await leaveBehind(request)
  await until('all files there', () => readdirSync(request.dir).length === 5)
  rmSync(request.dir, { recursive: true })
  const found = await recoverLaunch(rig.recovery(request, left))
  expect(found).toMatchObject({ kind: 'ended', exit: { exit: { known: false } } })
  expect([left.keeper.pid, left.child.pid].map(isGone)).toEqual([true, true])
})

test('a stopped keeper does not keep an end from coming', { timeout: 120_000 }, async () => {
  const launch = await rig.start(rig.request(['bash', '-c', 'sleep 300'], { killGraceMs: 0 }))
  process.kill(launch.keeper.pid, 'SIGSTOP')
  await until('keeper stopped', () => readProcess(launch.keeper.pid)?.state === 'T')
  await launch.end('now')
  expect(await launch.exited).toMatchObject({ exit: { known: false } })
  await until('keeper gone', () => isGone(launch.keeper.pid))
})

test('whoever claims a directory first keeps it', () => {
  const dir = join(rig.folder, 'claimed')
  mkdirSync(dir)
  expect([claimLaunch(dir, 'engine'), claimLaunch(dir, 'keeper'), claimLaunch(dir, 'engine')]).toEqual(['engine', 'engine', 'engine'])
})
