/** Turns what a failed spawn left behind into one of the failures a person can act on (F23). Node names the program in all of them, so the cwd is looked at here. */
import { statSync } from 'node:fs'
import { delimiter, isAbsolute } from 'node:path'
import type { SpawnFailure } from '../core/attempt-types.ts'
import { isErrno } from './errno.ts'

export interface SpawnContext {
  readonly program: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Failure of the working directory, before anything is spawned; null = it is a directory. */
export function cwdFailure(cwd: string): SpawnFailure | null {
  const found = statSync(cwd, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return null
  return failure('missing-cwd', `Working directory ${cwd} ${found === undefined ? 'does not exist' : 'is not a directory'}.`, cwd)
}

export function spawnFailure(error: unknown, context: SpawnContext): SpawnFailure {
  const { program, cwd, env } = context
  const missing = cwdFailure(cwd)
  if (missing !== null) return missing
  if (isErrno(error, 'ENOENT')) {
    if (isAbsolute(program) && statSync(program, { throwIfNoEntry: false }) !== undefined) {
      return failure('bad-interpreter', `${program} exists, but the interpreter in its first line does not.`, program)
    }
    return failure('not-found', `${program} was not found; PATH was ${(env['PATH'] ?? '').split(delimiter).join(' ')}.`, program)
  }
  if (isErrno(error, 'EACCES')) return failure('not-executable', `${program} is not executable.`, program)
  if (isErrno(error, 'E2BIG')) return failure('argument-too-long', `The arguments of ${program} are longer than the system allows.`, program)
  if (isErrno(error, 'ERR_INVALID_ARG_VALUE')) return failure('bad-argument', `An argument of ${program} holds a NUL character.`, program)
  if (['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'].some(code => isErrno(error, code))) {
    return failure('no-resources', `The system has no processes, memory or files left to start ${program}.`, '')
  }
  const why = error instanceof Error ? error.message : String(error)
  return failure('not-executable', `${program} could not be started: ${why}.`, `${program} ${why}`)
}

function failure(reason: SpawnFailure['reason'], message: string, about: string): SpawnFailure {
  return { reason, message, key: about === '' ? reason : `${reason}:${about}` }
}
