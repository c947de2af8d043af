import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acquireLock } from '../../../src/engine/state/lock.ts'
import { findLiveOwner, readOwner } from '../../../src/engine/state/lock-owner.ts'
import { startNodeChild } from '../../support/node-child.ts'
import type { NodeChild } from '../../support/node-child.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { waitFor } from '../../support/wait-for.ts'

async function startOwner(folder: string): Promise<NodeChild> {
  const owner = startNodeChild('lock-child.ts', [folder])
  expect(await owner.nextLine()).toBe(`locked ${owner.pid}`)
  return owner
}

const stateOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /, '')[0] ?? ''

test('F8: a second engine is refused with pid, host and start time of the first, also while the first is stopped', async () => {
  const folder = tempFolder()
  const owner = await startOwner(folder)
  const since = (await readOwner(folder))?.since
  const expected = `pid ${owner.pid} on ${hostname()}, since ${since}`
  await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'OC_LOCK_HELD', message: expect.stringContaining(expected) })
  owner.process.kill('SIGSTOP')
  await waitFor('the owner is stopped', () => stateOf(owner.pid) === 'T')
  const second = startNodeChild('lock-child.ts', [folder])
  expect(await second.nextLine()).toContain(`refused OC_LOCK_HELD This repository is owned by another engine: ${expected}`)
  expect((await findLiveOwner(folder))?.identity.pid).toBe(owner.pid)
})

test('F9: after a kill -9 of the owner the lock is free at once, and the next owner learns whom it replaces', async () => {
  const folder = tempFolder()
  const owner = await startOwner(folder)
  owner.process.kill('SIGKILL')
  await owner.exited
  const start = performance.now()
  const lock = await acquireLock(folder)
  expect(performance.now() - start).toBeLessThan(1000)
  expect([lock.abandoned?.identity.pid, lock.owner.epoch]).toEqual([owner.pid, 2])
  expect((await findLiveOwner(folder))?.identity.pid).toBe(process.pid)
  await lock.release()
})

test('an owner that leaves by itself leaves nothing abandoned and no live owner', async () => {
  const folder = tempFolder()
  const owner = await startOwner(folder)
  owner.process.stdin?.end()
  await owner.exited
  expect(await findLiveOwner(folder)).toBeNull()
  const lock = await acquireLock(folder)
  expect([lock.abandoned, lock.owner.epoch]).toEqual([null, 2])
  await Promise.all([lock.release(), lock.release()])
})

test('two engines inside one process exclude each other too', async () => {
  const folder = tempFolder()
  const first = await acquireLock(folder)
  await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'OC_LOCK_HELD' })
  await first.release()
  await (await acquireLock(folder)).release()
})

test('removing or replacing the lock file does not let a second owner in', async () => {
  const folder = tempFolder()
  const owner = await startOwner(folder)
  rmSync(join(folder, 'lock'))
  await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'OC_LOCK_HELD', message: expect.stringContaining(`pid ${owner.pid} `) })
  writeFileSync(join(folder, 'other'), '')
  renameSync(join(folder, 'other'), join(folder, 'lock'))
  await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'OC_LOCK_HELD' })
})

test('an unreleased owner on another host, or in a PID namespace whose lock file is gone, is refused as foreign', async () => {
  const folder = tempFolder()
  await (await acquireLock(folder)).release()
  const owner = await readOwner(folder)
  const pretend = (changes: object): void => writeFileSync(join(folder, 'owner.json'), JSON.stringify({ ...owner, released: false, ...changes }))
  pretend({ host: 'elsewhere', identity: { ...owner?.identity, bootId: 'other' } })
  await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'OC_LOCK_FOREIGN', message: expect.stringContaining('on elsewhere') })
  pretend({ identity: { ...owner?.identity, pidNs: '1' }, inode: '0' })
  await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'OC_LOCK_FOREIGN' })
  pretend({ identity: { ...owner?.identity, bootId: 'before the last boot' }, inode: '0' })
  await (await acquireLock(folder)).release()
})

test('an owner file that can not be understood does not keep anyone out', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'owner.json'), '{"identity":')
  await (await acquireLock(folder)).release()
  expect(['lock', 'owner.json'].map(name => (statSync(join(folder, name)).mode & 0o777).toString(8))).toEqual(['600', '600'])
})

test('a release that can not be written down frees the lock all the same, and hides no earlier error (F5)', async () => {
  const folder = tempFolder()
  const lock = await acquireLock(folder)
  rmSync(folder, { recursive: true })
  await lock.release()
  mkdirSync(folder)
  await (await acquireLock(folder)).release()
})
