/** Runs a simulated launch inside the test's own process: same code and same bytes, no start-up cost. Not for signals, hangs or deaths. */
import { PassThrough, Readable } from 'node:stream'
import type { SimHost } from '../../src/simulator/host.ts'
import { runSimulator } from '../../src/simulator/run-simulator.ts'

export interface SimRun {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface SimRunRequest {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly stdin: string
  /** User id the program believes in; the recordings were made as root. */
  readonly uid?: number
}

class LeftEarly extends Error {
  readonly code: number

  constructor(code: number) {
    super('the play ended the process')
    this.code = code
  }
}

export async function runSimInProcess(request: SimRunRequest): Promise<SimRun> {
  const out = collector()
  const err = collector()
  const host = {
    stdin: Readable.from(request.stdin === '' ? [] : [Buffer.from(request.stdin)]),
    stdout: out.stream,
    stderr: err.stream,
    cwd: () => request.cwd,
    pid: process.pid,
    getuid: () => request.uid ?? 0,
    on: () => host,
    removeAllListeners: () => host,
    kill: () => true,
    exit: (code: number) => {
      throw new LeftEarly(code)
    },
  } as unknown as SimHost
  const code = await runSimulator(request.args, request.env, host).catch((error: unknown) => {
    if (error instanceof LeftEarly) return error.code
    throw error
  })
  return { code, signal: null, stdout: out.text(), stderr: err.text() }
}

function collector(): { readonly stream: PassThrough, readonly text: () => string } {
  const stream = new PassThrough()
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
