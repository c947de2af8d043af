import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { compareOrigin, identify, isAlive, ownOrigin, signalProcess } from '../../src/executor/process/identity.ts'
import { readProcess } from '../../src/executor/process/process-table.ts'

test('an identity is boot, PID namespace, pid and start ticks (F25)', () => {
  const own = identify(process.pid)
  expect(own).toEqual({
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    pidNs: ownOrigin().pidNs,
    pid: process.pid,
    startTicks: readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[19],
  })
  expect(ownOrigin().pidNs).toMatch(/^\d+$/)
})

test('a program name with spaces and parentheses does not shift the fields', async () => {
  const child = spawn('bash', ['-c', 'printf "a) R 1 (b" > /proc/$$/comm; echo; read'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  expect(readProcess(child.pid ?? 0)).toMatchObject({ pid: child.pid, ppid: process.pid, tty: 0 })
  child.stdin.end()
  await once(child, 'exit')
})

test('a process is not signalled under an identity that differs in any part (F25)', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const identity = identify(child.pid ?? 0)
  if (identity === null) throw new Error('no identity')
  const forged = [
    { ...identity, startTicks: String(Number(identity.startTicks) - 1) },
    { ...identity, bootId: '00000000-0000-0000-0000-000000000000' },
    { ...identity, pidNs: '1' },
  ]
  expect(forged.map(other => [isAlive(other), signalProcess(other, 'SIGKILL')])).toEqual(forged.map(() => [false, false]))
  expect([isAlive(identity), signalProcess(identity, 'SIGKILL')]).toEqual([true, true])
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  expect(isAlive(identity)).toBe(false)
})

test('a zombie is gone, though it still has its row', async () => {
  const parent = spawn('bash', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(parent.stdout, 'data') as [Buffer]
  const pid = Number(line.toString())
  while (readProcess(pid)?.state !== 'Z') await new Promise(resolve => setTimeout(resolve, 10))
  expect([identify(pid), identify(pid, 'zombies')?.pid]).toEqual([null, pid])
  parent.kill('SIGKILL')
  await once(parent, 'exit')
})

test('another boot of this host is the past; another namespace or host is foreign', () => {
  const own = ownOrigin()
  expect(own.host).toBe(hostname())
  expect([
    compareOrigin(own), compareOrigin({ ...own, bootId: 'x' }), compareOrigin({ ...own, pidNs: '1' }), compareOrigin({ ...own, bootId: 'x', host: 'elsewhere' }),
  ]).toEqual(['same', 'past', 'foreign', 'foreign'])
})
