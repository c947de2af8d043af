/**
 * One engine per repository (SEMANTICS 7.1): a kernel lock on `lock`, and `owner.json` beside it for people.
 * The kernel decides; `owner.json` only tells who, and catches a lock file that was removed under a living owner.
 */
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { tryLock } from 'fs-native-extensions'
import { OpenClaudeError } from '../../errors.ts'
import { compareOrigin, identify, isAlive, ownOrigin } from '../../executor/process/identity.ts'
import { writeFileDurable } from '../../durable-file.ts'
import { readOwner } from './lock-owner.ts'
import type { LockOwner } from './lock-owner.ts'

export interface RepositoryLock {
  /** As it was written; `epoch` is one more than that of the owner before. */
  readonly owner: LockOwner
  /** The owner before, when it never released: its engine died. */
  readonly abandoned: LockOwner | null
  /** Idempotent. Marks the lock as released, then frees it. */
  readonly release: () => Promise<void>
}

/** A status probe may hold the lock for an instant; and a new owner writes its name only after it got the lock. */
const TRIES = 6
const TRY_AGAIN_MS = 50

/**
 * @param repositoryDir an existing folder of ours.
 * @throws OC_LOCK_HELD naming pid, host and start time of the owner, also while that process is stopped (F8); OC_LOCK_FOREIGN when the
 * owner can't be looked for from here. Free at once after a kill -9 of the owner (F9).
 */
export async function acquireLock(repositoryDir: string, now: Date = new Date()): Promise<RepositoryLock> {
  const identity = identify(process.pid)
  if (identity === null) throw new OpenClaudeError('OC_INTERNAL', 'This process can not tell its own identity')
  const fd = await lockFile(repositoryDir)
  try {
    const before = await readOwner(repositoryDir)
    const inode = String(fstatSync(fd).ino)
    if (before !== null && !before.released) refuseLivingOwner(before, inode)
    const owner: LockOwner = { identity, host: ownOrigin().host, epoch: (before?.epoch ?? 0) + 1, since: now.toISOString(), inode, released: false }
    await writeOwner(repositoryDir, owner)
    let released: Promise<void> | null = null
    const release = (): Promise<void> => {
      // Best effort: the descriptor is the lock. Unwritten, it looks like a kill -9, and must not hide why the disk can't be written.
      released ??= writeOwner(repositoryDir, { ...owner, released: true }).catch(() => undefined).finally(() => closeSync(fd))
      return released
    }
    return { owner, abandoned: before === null || before.released ? null : before, release }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function writeOwner(repositoryDir: string, owner: LockOwner): Promise<void> {
  return writeFileDurable(join(repositoryDir, 'owner.json'), `${JSON.stringify(owner, null, 2)}\n`)
}

/** Returns a locked descriptor of the file that is at the path now: a lock on a removed file excludes nobody. */
async function lockFile(repositoryDir: string): Promise<number> {
  const path = join(repositoryDir, 'lock')
  for (let attempt = 1; ; attempt += 1) {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
    let locked = false
    try {
      locked = tryLock(fd) && isStillAt(path, fd)
    } finally {
      if (!locked) closeSync(fd)
    }
    if (locked) return fd
    if (attempt >= TRIES) throw held(await readOwner(repositoryDir), repositoryDir)
    await delay(TRY_AGAIN_MS)
  }
}

function isStillAt(path: string, fd: number): boolean {
  try {
    const { ino, dev } = fstatSync(fd)
    const now = statSync(path)
    return now.ino === ino && now.dev === dev
  } catch {
    return false
  }
}

/** The kernel gave us the lock. That settles it, unless the owner locked another file, or on another machine that this kernel does not know of. */
function refuseLivingOwner(owner: LockOwner, inode: string): void {
  const origin = compareOrigin({ ...owner.identity, host: owner.host })
  const sameKernel = owner.identity.bootId === ownOrigin().bootId
  if (origin === 'past' || (sameKernel && owner.inode === inode)) return
  if (origin === 'foreign') throw foreign(owner, sameKernel ? 'in another PID namespace, under a lock file that is gone' : 'on another host, whose locks may not be visible here')
  if (isAlive(owner.identity)) throw held(owner, 'the lock file was replaced while its owner lived')
}

function held(owner: LockOwner | null, where: string): OpenClaudeError {
  const who = owner === null || owner.released ? 'an engine that is just starting or leaving' : `pid ${owner.identity.pid} on ${owner.host}, since ${owner.since}`
  const fix = 'Look with `dsh-openclaude status`, end it with `dsh-openclaude abort`, or wait until it has finished.'
  return new OpenClaudeError('OC_LOCK_HELD', `This repository is owned by another engine: ${who} (${where}). One engine per repository. ${fix}`, { subject: where, fix })
}

function foreign(owner: LockOwner, why: string): OpenClaudeError {
  const fix = 'Make sure that this engine and its children are gone, then remove owner.json from the state folder of the repository.'
  return new OpenClaudeError('OC_LOCK_FOREIGN', `The last engine of this repository (pid ${owner.identity.pid} on ${owner.host}, since ${owner.since}) ran ${why}: it can be neither seen nor ended. ${fix}`, {
    subject: `engine ${owner.identity.pid} on ${owner.host}`, fix,
  })
}
