/** Turns the error of a failed spawn into a `SpawnFailure` (F23, F24, F26). Node names the program for several different causes, so the file system is asked which one it was. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { SpawnFailure } from '../../core/attempt-types.ts'
import { isCode } from './launch-files.ts'

interface SpawnSubject {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Asked before the spawn: a missing directory would otherwise be reported as a missing program. */
export function checkCwd(cwd: string): SpawnFailure | null {
  const why = cwdFault(cwd)
  return why === null ? null : failure('missing-cwd', cwd, `The working directory ${cwd} ${why}; create it or correct the path.`)
}

export function classifySpawnError(error: unknown, subject: SpawnSubject): SpawnFailure {
  const program = subject.argv[0] ?? ''
  if (isCode(error, 'E2BIG')) {
    const longest = Math.max(...subject.argv.map(argument => Buffer.byteLength(argument)))
    return failure('argument-too-long', program, `The arguments of ${program} are too long for this system (longest: ${longest} bytes); pass long text through stdin.`)
  }
  if (isCode(error, 'ERR_INVALID_ARG_VALUE') || isCode(error, 'ERR_INVALID_ARG_TYPE')) {
    return failure('bad-argument', program, `An argument or environment value of ${program} holds a NUL byte or is empty; remove it.`)
  }
  for (const code of ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']) {
    if (isCode(error, code)) return failure('no-resources', code, `The system refused another process or file (${code}); lower the concurrency or raise the limit.`)
  }
  const places = placesFor(program, subject)
  const present = places.filter(isFile)
  const first = present[0]
  if (first === undefined) return failure('not-found', program, `The program ${program} was found at none of: ${places.join(', ')}. Install it or correct the name.`)
  const runnable = present.find(isExecutable)
  if (runnable === undefined) return failure('not-executable', first, `The program ${first} is not executable; set its executable bit.`)
  if (isCode(error, 'ENOENT')) return failure('bad-interpreter', runnable, `The interpreter named in the first line of ${runnable} does not exist; correct that line.`)
  return failure('not-executable', runnable, `The program ${runnable} could not be executed: ${error instanceof Error ? error.message : String(error)}.`)
}

function failure(reason: SpawnFailure['reason'], subject: string, message: string): SpawnFailure {
  return { reason, message, key: `${reason}:${subject}` }
}

function cwdFault(cwd: string): string | null {
  try {
    if (!statSync(cwd).isDirectory()) return 'is no directory'
    accessSync(cwd, constants.X_OK)
    return null
  } catch (error) {
    return isCode(error, 'EACCES') ? 'may not be entered' : 'does not exist'
  }
}

function placesFor(program: string, { cwd, env }: SpawnSubject): readonly string[] {
  if (program.includes('/')) return [program.startsWith('/') ? program : join(cwd, program)]
  return (env['PATH'] ?? '/usr/bin:/bin').split(delimiter).map(folder => join(folder === '' ? cwd : folder, program))
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    // Absent, or behind a folder that may not be entered: not to be run from there.
    return false
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Only EACCES can arrive here: the caller has just seen the file.
    return false
  }
}
