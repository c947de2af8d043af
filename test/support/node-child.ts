/** Starts a TypeScript file of `test/support` under this Node and reads it line by line; killed when the test ends. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export interface NodeChild {
  readonly process: ChildProcess
  readonly pid: number
  /** The next line of stdout; null when it ended. */
  readonly nextLine: () => Promise<string | null>
  readonly exited: Promise<{ readonly code: number | null, readonly signal: NodeJS.Signals | null }>
}

export function startNodeChild(script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): NodeChild {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<{ readonly code: number | null, readonly signal: NodeJS.Signals | null }>((settle, fail) => {
    child.once('error', fail)
    child.once('exit', (code, signal) => settle({ code, signal }))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async (): Promise<string | null> => {
    const { value, done } = await lines.next()
    return done === true ? null : value
  }
  if (child.pid === undefined) throw new Error(`${script} could not be started`)
  return { process: child, pid: child.pid, nextLine, exited }
}
