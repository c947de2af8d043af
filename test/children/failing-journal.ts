/**
 * `failing-journal.ts <argument>...`: the command line, with a disk that fails at the n-th sync of `DSH_FAIL_SYNC`. Loaded in the place of `cli/main.ts`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

let syncs = 0
const { fdatasync } = fs
fs.fdatasync = ((fd: number, done: (error: NodeJS.ErrnoException | null) => void): void => {
  syncs += 1
  if (syncs < Number(process.env['DSH_FAIL_SYNC'])) fdatasync(fd, done)
  else setImmediate(() => done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })))
}) as typeof fs.fdatasync
syncBuiltinESMExports()
await import('../../src/cli/main.ts')
