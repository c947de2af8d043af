/** Takes the lock of the folder in argv, says `locked <pid>` or `refused <code> <message>`, then waits for its end or for stdin to close. */
import { acquireLock } from '../../src/engine/state/lock.ts'

const [, , folder = ''] = process.argv
try {
  const lock = await acquireLock(folder)
  process.stdout.write(`locked ${process.pid}\n`)
  process.stdin.resume()
  process.stdin.on('end', () => void lock.release())
} catch (error) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'none'
  process.stdout.write(`refused ${code} ${error instanceof Error ? error.message : ''}\n`)
}
