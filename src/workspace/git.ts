/**
 * One git command as a plain child: argv only, no hooks, no file-system monitor, no prompt, nothing of the caller's `GIT_*`.
 * Bounded in time and output. Knows nothing of snapshots or diffs; an unusual exit is a value, never an exception.
 */
import { spawn } from 'node:child_process'

export interface GitOptions {
  readonly cwd: string
  readonly timeoutMs: number
  /** stdout beyond this ends the command as `too-large`, with what was read. */
  readonly maxBytes: number
}

export type GitResult =
  | { readonly kind: 'exited', readonly code: number, readonly stdout: Buffer, readonly stderr: string }
  | { readonly kind: 'too-large', readonly stdout: Buffer }
  | { readonly kind: 'timed-out' }
  /** git is not installed, or died by a signal of somebody else. */
  | { readonly kind: 'unavailable', readonly message: string }

const STDERR_MAX_BYTES = 16 * 1024

const SAFE_CONFIG = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=false', '-c', 'gc.auto=0']

export function runGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  return new Promise(resolve => {
    const child = spawn('git', [...SAFE_CONFIG, ...args], {
      cwd: options.cwd,
      env: gitEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const out: Buffer[] = []
    let outBytes = 0
    let stderr = ''
    let cut: 'too-large' | 'timed-out' | null = null
    const timer = setTimeout(() => {
      cut ??= 'timed-out'
      child.kill('SIGKILL')
    }, options.timeoutMs)
    child.stdout.on('data', (bytes: Buffer) => {
      if (cut !== null) return
      out.push(bytes.subarray(0, options.maxBytes - outBytes))
      outBytes += bytes.length
      if (outBytes <= options.maxBytes) return
      cut = 'too-large'
      child.kill('SIGKILL')
    })
    child.stderr.on('data', (bytes: Buffer) => {
      if (stderr.length < STDERR_MAX_BYTES) stderr += bytes.toString('utf8').slice(0, STDERR_MAX_BYTES - stderr.length)
    })
    child.on('error', error => {
      clearTimeout(timer)
      resolve({ kind: 'unavailable', message: `git could not be started: ${error.message}` })
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (cut === 'too-large') resolve({ kind: 'too-large', stdout: Buffer.concat(out) })
      else if (cut === 'timed-out') resolve({ kind: 'timed-out' })
      else if (code === null) resolve({ kind: 'unavailable', message: `git was ended by ${signal ?? 'a signal'}` })
      else resolve({ kind: 'exited', code, stdout: Buffer.concat(out), stderr })
    })
  })
}

function gitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
  return { ...kept, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }
}
