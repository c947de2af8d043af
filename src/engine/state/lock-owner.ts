/** What `owner.json` says, and whether that owner still lives. For status views and for the lock; never takes the lock for longer than an instant. */
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tryLock } from 'fs-native-extensions'
import { z } from 'zod'
import type { ProcessIdentity } from '../../core/attempt-types.ts'
import { compareOrigin, isAlive } from '../../executor/process/identity.ts'

export interface LockOwner {
  readonly identity: ProcessIdentity
  readonly host: string
  /** +1 with every engine that got the lock of this repository. */
  readonly epoch: number
  /** Wall clock, ISO 8601. */
  readonly since: string
  /** Inode of the lock file that was locked. */
  readonly inode: string
  /** The owner gave the lock back by itself. */
  readonly released: boolean
}

const ownerSchema: z.ZodType<LockOwner> = z.object({
  identity: z.object({ bootId: z.string(), pidNs: z.string(), pid: z.int(), startTicks: z.string() }),
  host: z.string(),
  epoch: z.int(),
  since: z.string(),
  inode: z.string(),
  released: z.boolean(),
})

/** Null when no engine ever owned the repository, or the file can't be understood: it is advice, the kernel lock is the rule. */
export async function readOwner(repositoryDir: string): Promise<LockOwner | null> {
  try {
    return ownerSchema.parse(JSON.parse(await readFile(join(repositoryDir, 'owner.json'), 'utf8')))
  } catch {
    return null
  }
}

/** The living owner of the repository, or null. Where it can't be seen (another PID namespace) the kernel lock is asked. */
export async function findLiveOwner(repositoryDir: string): Promise<LockOwner | null> {
  const owner = await readOwner(repositoryDir)
  if (owner === null || owner.released) return null
  switch (compareOrigin({ ...owner.identity, host: owner.host })) {
    case 'past':
      return null
    case 'same':
      return isAlive(owner.identity) ? owner : null
    case 'foreign':
      return isLocked(join(repositoryDir, 'lock')) ? owner : null
  }
}

function isLocked(path: string): boolean {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return false
  }
  try {
    return !tryLock(fd, { shared: true })
  } finally {
    closeSync(fd)
  }
}
