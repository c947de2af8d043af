/**
 * One Bash command as OpenClaude runs it: own session and process group, output into a file, so that it lives on when the CLI is killed.
 * Owns the process; knows nothing of records.
 */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface ShellEnd {
  readonly code: number
  readonly output: string
}

export interface Shell {
  readonly pid: number
  readonly ended: Promise<ShellEnd>
  /** Ends the command and everything below it. */
  readonly kill: () => void
}

export function startShell(command: string, facts: { readonly cwd: string, readonly env: NodeJS.ProcessEnv, readonly outputFile: string }): Shell {
  mkdirSync(dirname(facts.outputFile), { recursive: true })
  const file = openSync(facts.outputFile, 'a', 0o600)
  const child = spawn('bash', ['-c', command], { cwd: facts.cwd, env: facts.env, detached: true, stdio: ['ignore', file, file] })
  closeSync(file)
  const pid = child.pid ?? -1
  const ended = new Promise<ShellEnd>(resolve => {
    child.on('error', error => resolve({ code: 127, output: error.message }))
    child.on('exit', (code, signal) => resolve({ code: code ?? (signal === 'SIGTERM' ? 143 : 137), output: readFileSync(facts.outputFile, 'utf8') }))
  })
  return { pid, ended, kill: () => killTree(pid) }
}

/** SIGKILL to the process, its group and all descendants that can be seen in /proc. */
function killTree(pid: number): void {
  if (pid <= 0) return
  const members = [pid, ...descendants(pid)]
  for (const target of [-pid, ...members]) {
    try {
      process.kill(target, 'SIGKILL')
    } catch {
      // already gone
    }
  }
}

function descendants(root: number): number[] {
  const children = childrenByParent()
  const found: number[] = []
  const open = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const below = children.get(next) ?? []
    found.push(...below)
    open.push(...below)
  }
  return found
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  let names: string[]
  try {
    names = readdirSync('/proc').filter(name => /^\d+$/u.test(name))
  } catch {
    return children
  }
  for (const name of names) {
    const parent = parentOf(name)
    if (parent !== null) children.set(parent, [...children.get(parent) ?? [], Number(name)])
  }
  return children
}

function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}
