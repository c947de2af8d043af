/**
 * Finds the program of a child: a path, a name on PATH, or one of the places where a Homebrew or npm set-up puts it while PATH does not say so.
 * An executable may be a command with arguments. Looks at files only; starts nothing.
 */
import { accessSync, constants, openSync, readSync, closeSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { OpenClaudeError } from '../../errors.ts'

export interface SearchContext {
  /** Environment of the child: its PATH and HOME count, not ours. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative paths are taken from here. */
  readonly cwd: string
}

export interface FoundExecutable {
  /** Absolute program followed by the arguments of the configured command. */
  readonly argv: readonly [string, ...string[]]
  /** Name of the interpreter in the first line (`node`, `sh`, …); null for a binary. */
  readonly interpreter: string | null
}

/** Throws `OC_CHILD_NOT_FOUND` naming every place tried and PATH, or `OC_CHILD_SPAWN` for a file that can't be run. */
export function findExecutable(executable: readonly string[], context: SearchContext): FoundExecutable {
  const [name = '', ...args] = executable
  const places = candidates(name, context)
  const present = places.filter(isFile)
  const usable = present.find(isRunnable)
  if (usable !== undefined) return { argv: [usable, ...args], interpreter: checkedInterpreter(usable, context) }
  const [unusable] = present
  if (unusable !== undefined) {
    throw new OpenClaudeError('OC_CHILD_SPAWN', `Executable ${unusable} is not executable.`, {
      subject: `executable "${name}"`,
      fix: `Run: chmod +x ${unusable}`,
    })
  }
  throw new OpenClaudeError('OC_CHILD_NOT_FOUND', [
    `Executable "${name}" was found in none of these places: ${places.join(', ') || '(none)'}.`,
    `PATH of the child is: ${context.env['PATH'] ?? '(not set)'}.`,
  ].join(' '), {
    subject: `executable "${name}"`,
    fix: 'Install OpenClaude, put its folder on PATH, or set `executable` to its absolute path.',
  })
}

function candidates(name: string, { env, cwd }: SearchContext): string[] {
  if (name === '') return []
  if (name.includes('/')) return [isAbsolute(name) ? name : resolve(cwd, name)]
  return [...new Set([...pathFolders({ env, cwd }), ...probes(env['HOME'])])].map(folder => join(folder, name))
}

function pathFolders({ env, cwd }: SearchContext): string[] {
  return (env['PATH'] ?? '').split(delimiter).filter(folder => folder !== '').map(folder => resolve(cwd, folder))
}

/** Homebrew below the home folder or at its usual places, and the global folder of an npm that belongs to a Homebrew Node. */
function probes(home: string | undefined): string[] {
  const atHome = home === undefined || home === '' ? [] : ['homebrew', '.homebrew', '.linuxbrew'].map(folder => join(home, folder))
  const prefixes = [...atHome, '/home/linuxbrew/.linuxbrew', '/opt/homebrew', '/usr/local']
  const own = home === undefined || home === '' ? [] : [join(home, '.npm-global', 'bin'), join(home, '.local', 'bin')]
  return [...prefixes.flatMap(prefix => [join(prefix, 'bin'), join(prefix, 'opt', 'node', 'bin'), join(prefix, 'lib', 'node_modules', '.bin')]), ...own]
}

function checkedInterpreter(file: string, context: SearchContext): string | null {
  const line = firstLine(file)
  if (!line.startsWith('#!')) return null
  const [interpreter = '', ...words] = line.slice(2).trim().split(/\s+/)
  const viaEnv = interpreter.endsWith('/env')
  const wanted = viaEnv ? words.find(word => !word.startsWith('-') && !word.includes('=')) ?? '' : interpreter
  const places = viaEnv ? pathFolders(context).map(folder => join(folder, wanted)) : [interpreter]
  if (!places.some(place => isFile(place) && isRunnable(place))) {
    throw new OpenClaudeError('OC_CHILD_SPAWN', `Executable ${file} wants the interpreter "${wanted}", which ${viaEnv ? 'is not on the PATH of the child' : 'does not exist'}.`, {
      subject: `executable "${file}"`,
      fix: `Install ${wanted}, or write the executable as a command with arguments: the interpreter first, then the script.`,
    })
  }
  return wanted.slice(wanted.lastIndexOf('/') + 1)
}

function firstLine(file: string): string {
  // A program that may be run but not read has no first line for us; the kernel reads it.
  if (!isAllowed(file, constants.R_OK)) return ''
  const head = Buffer.alloc(256)
  const handle = openSync(file, 'r')
  try {
    return head.toString('latin1', 0, readSync(handle, head)).split('\n', 1)[0] ?? ''
  } finally {
    closeSync(handle)
  }
}

function isFile(path: string): boolean {
  return isAllowed(path, constants.F_OK) && statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function isRunnable(path: string): boolean {
  return isAllowed(path, constants.X_OK)
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    // Missing, a file where a folder should be, or no permission: all mean no.
    return false
  }
}
