/** What the sweep ends and, above all, what it spares. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identify, signalProcess } from '../../src/executor/process/identity.ts'
import { readLaunchFile } from '../../src/executor/keeper/launch-files.ts'
import type { LaunchRequest } from '../../src/executor/keeper/launch-types.ts'
import { readProcess } from '../../src/executor/process/process-table.ts'
import { sweepLaunch } from '../../src/executor/keeper/sweep.ts'
import { isGone, LaunchRig, MARK, until } from '../support/launch-rig.ts'

let rig: LaunchRig
let bystanders: number[]
beforeEach(() => {
  rig = new LaunchRig()
  bystanders = []
})
afterEach(async () => {
  for (const pid of bystanders) {
    const identity = identify(pid)
    if (identity !== null) signalProcess(identity, 'SIGKILL')
  }
  await rig.dispose()
})

/** A process of the user: no marker, standing in the workspace. */
function asUser(program: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { cwd: rig.workspace, env: { PATH: process.env['PATH'] }, stdio: 'ignore' })
  if (child.pid !== undefined) bystanders.push(child.pid)
  return child
}

async function bystander(file: string): Promise<number> {
  const pid = await rig.pidFrom(file)
  bystanders.push(pid)
  return pid
}

/** Lets go of the pipes, so that the end of a launch does not wait for it. */
const sleeper = (file: string): string => `echo $$ > ${file}; exec sleep 300 > /dev/null 2>&1`

test('a double fork into a session of its own is found by the marker (F15)', async () => {
  const launch = await rig.start(rig.request(['bash', '-c', `(setsid bash -c 'cd /; echo $$ > "$OLDPWD/pid"; exec sleep 300 > /dev/null 2>&1' &) & wait`]))
  const escaped = await rig.pidFrom('pid')
  await launch.exited
  expect(readProcess(escaped)?.ppid).toBe(1)
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 1 })
  expect(isGone(escaped)).toBe(true)
})

test('one that also cleared its environment is found by its working directory (F15)', async () => {
  const launch = await rig.start(rig.request(['bash', '-c', `(env -i setsid sh -c '${sleeper('pid')}' &) & wait`]))
  const escaped = await rig.pidFrom('pid')
  await launch.exited
  expect(rig.marked()).toEqual([])
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 1 })
  expect(isGone(escaped)).toBe(true)
})

test('one whose environment is empty to the last variable is found by its working directory too', async () => {
  const launch = await rig.start(rig.request(['bash', '-c', `(env -i setsid sleep 300 > /dev/null 2>&1 & echo $! > pid) ; wait`]))
  const escaped = await rig.pidFrom('pid')
  await launch.exited
  await until('its environment is empty', () => readFileSync(`/proc/${escaped}/environ`).length === 0)
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 1 })
  expect(isGone(escaped)).toBe(true)
})

test('the same holds where the inherited tag is not available, and what the escaped process started goes too', async () => {
  const request = rig.request(['bash', '-c', `(env -i setsid sh -c '(cd /; exec sleep 300 > /dev/null 2>&1) & echo $! > pid2; ${sleeper('pid')}' &) & wait`])
  const launch = await rig.start(request)
  const escaped = [await rig.pidFrom('pid'), await rig.pidFrom('pid2')]
  await launch.exited
  expect(await sweepWithoutTag(request)).toEqual({ result: 'clean', ended: 2 })
  expect(escaped.map(isGone)).toEqual([true, true])
})

test('the shell and the editor of a user who works in the tree meanwhile survive, with and without the tag', async () => {
  asUser('bash', '-c', `(setsid bash -c '${sleeper('before')}' &)`)
  const before = await bystander('before')
  await until('re-parented', () => readProcess(before)?.ppid === 1)
  const request = rig.request(['bash', '-c', 'while [ ! -e go ]; do sleep 0.05; done; sleep 300 > /dev/null 2>&1 & echo $! > left'])
  const launch = await rig.start(request)
  // Started while the launch lives: one with a parent, one on a terminal whose parent is gone.
  const during = asUser('bash', '-c', sleeper('during'))
  asUser('script', '-qfc', `(bash -c '${sleeper('terminal')}' &); sleep 300`, '/dev/null')
  const onTerminal = await bystander('terminal')
  await rig.pidFrom('during')
  await until('re-parented', () => readProcess(onTerminal)?.ppid === 1)
  expect(readProcess(onTerminal)?.tty).not.toBe(0)
  writeFileSync(join(rig.workspace, 'go'), '')
  const left = await rig.pidFrom('left')
  await launch.exited
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 1 })
  expect(await sweepWithoutTag(request)).toEqual({ result: 'clean', ended: 0 })
  expect([left, before, during.pid, onTerminal].map(pid => isGone(pid ?? 0))).toEqual([true, false, false, false])
})

test('a server that a user started in the background during the launch survives: it has not the tag', async () => {
  const request = rig.request(['bash', '-c', 'while [ ! -e go ]; do sleep 0.05; done'])
  const launch = await rig.start(request)
  asUser('bash', '-c', `(setsid bash -c '${sleeper('server')}' &)`)
  const server = await bystander('server')
  await until('re-parented', () => readProcess(server)?.ppid === 1)
  writeFileSync(join(rig.workspace, 'go'), '')
  await launch.exited
  expect(readLaunchFile(request.dir)?.tag).toEqual(expect.any(Number))
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 0 })
  expect(isGone(server)).toBe(false)
})

test('another live launch in the same tree keeps all its processes', async () => {
  const other = await rig.start(rig.request(['bash', '-c', `while [ ! -e pid ]; do sleep 0.05; done; (setsid bash -c '${sleeper('other')}' &) & sleep 300`]))
  const request = rig.request(['bash', '-c', `(setsid bash -c '${sleeper('pid')}' &) & wait`])
  const launch = await rig.start(request)
  const escaped = await rig.pidFrom('pid')
  const tool = await rig.pidFrom('other')
  await launch.exited
  expect(await launch.sweep()).toEqual({ result: 'clean', ended: 1 })
  expect(await sweepWithoutTag(request)).toEqual({ result: 'clean', ended: 0 })
  expect([escaped, tool, other.child?.pid ?? 0, other.keeper.pid].map(isGone)).toEqual([true, false, false, false])
  await other.end('now')
  expect((await other.exited).exit).toMatchObject({ signal: 'SIGKILL' })
})

test('a sweep never ends the process that sweeps, even when that carries the marker', async () => {
  const request = rig.request(['true'])
  const script = `
    import { sweepLaunch } from ${JSON.stringify(new URL('../../src/executor/keeper/sweep.ts', import.meta.url).href)}
    const swept = await sweepLaunch({ marker: ${JSON.stringify(request.marker)}, workspaceRoot: process.cwd(), keeper: null, tag: null, known: [] })
    console.log(JSON.stringify(swept))`
  const child = spawn('bash', ['-c', 'sleep 300 & node --input-type=module -e "$1"; wait', 'bash', script], {
    cwd: rig.workspace, env: { PATH: process.env['PATH'], [MARK]: request.marker.value }, stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (text: Buffer) => { out += text.toString() })
  await until('swept', () => out.endsWith('\n'))
  expect(JSON.parse(out)).toEqual({ result: 'clean', ended: 1 })
})

function sweepWithoutTag({ dir, marker, workspaceRoot }: LaunchRequest): ReturnType<typeof sweepLaunch> {
  return sweepLaunch({ marker, workspaceRoot, keeper: readLaunchFile(dir)?.keeper ?? null, tag: null, known: [] })
}
