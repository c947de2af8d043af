/** Where the prompt comes from: the argument, stdin, or both (argument first). An open stdin beside an argument costs three seconds and a warning. */
import type { SimHost } from './host.ts'

const PATIENCE_MS = 3000
const NO_DATA = 'Warning: no stdin data received in 3s, proceeding without it. If piping from a slow command, redirect stdin explicitly: '
  + '< /dev/null to skip, or wait longer.\n'

/** Null: there is none. Without an argument it waits for the end of stdin for ever. */
export async function readPrompt(argument: string | undefined, host: Pick<SimHost, 'stdin' | 'stderr'>): Promise<string | null> {
  const piped = host.stdin.isTTY ? '' : await readAll(host, argument === undefined ? null : PATIENCE_MS)
  const prompt = [argument, piped].filter(part => part !== undefined && part !== '').join('\n')
  return prompt === '' ? null : prompt
}

function readAll(host: Pick<SimHost, 'stdin' | 'stderr'>, patienceMs: number | null): Promise<string> {
  const { stdin, stderr } = host
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let timer: NodeJS.Timeout | undefined
    const done = (): void => {
      clearTimeout(timer)
      stdin.removeAllListeners()
      resolve(Buffer.concat(chunks).toString('utf8'))
    }
    if (patienceMs !== null) {
      timer = setTimeout(() => {
        stderr.write(NO_DATA)
        stdin.unref()
        done()
      }, patienceMs)
    }
    stdin.on('data', (chunk: Buffer) => {
      clearTimeout(timer)
      chunks.push(chunk)
    })
    stdin.on('end', done)
    stdin.on('error', done)
  })
}
