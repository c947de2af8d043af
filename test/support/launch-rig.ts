/** A temporary place for launches of one test: directories, requests, and the end of everything that carries its marker. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identityOf, isAlive, signalProcess } from '../../src/executor/process/identity.ts'
import type { LaunchChunk, LaunchRequest, LiveLaunch, RecoverRequest } from '../../src/executor/keeper/launch-types.ts'
import { startLaunch } from '../../src/executor/keeper/launch.ts'
import { isDead, listProcesses, readEnviron } from '../../src/executor/process/process-table.ts'

export const MARK = 'DSH_TEST_MARK'

/** Polls until the condition gives something other than null or false. */
export async function until<T>(what: string, condition: () => T | null | false, ceilingMs = 20_000): Promise<T> {
  for (let waited = 0; waited <= ceilingMs; waited += 20) {
    const value = condition()
    if (value !== null && value !== false) return value
    await sleep(20)
  }
  throw new Error(`timed out: ${what}`)
}

/** No process, or state Z. */
export function isGone(pid: number): boolean {
  const row = listProcesses().find(candidate => candidate.pid === pid)
  return row === undefined || isDead(row)
}

export class LaunchRig {
  /** Real path: a working directory is compared by it. */
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'launch-')))
  readonly workspace = join(this.folder, 'tree')
  readonly #id = this.folder.slice(-6)
  #launches = 0

  constructor() {
    mkdirSync(this.workspace)
  }

  request(argv: readonly string[], overrides: Partial<LaunchRequest> = {}): LaunchRequest {
    this.#launches += 1
    const dir = join(this.folder, `l${this.#launches}`)
    mkdirSync(dir, { mode: 0o700 })
    const marker = { name: MARK, value: `${this.#id}-${this.#launches}` }
    return {
      dir, argv, marker,
      cwd: this.workspace,
      // bash reads the start-up file of its home when its stdin is a socket, as Node's pipes are.
      env: { PATH: process.env['PATH'] ?? '', HOME: this.folder, [MARK]: marker.value },
      prompt: '',
      workspaceRoot: this.workspace,
      maxStreamBytes: 10_000_000,
      maxRuntimeMs: 0,
      killGraceMs: 1000,
      onEngineDeath: 'adopt',
      ...overrides,
    }
  }

  async start(request: LaunchRequest): Promise<LiveLaunch> {
    const started = await startLaunch(request)
    if (started.kind === 'failed') throw new Error(started.failure.message)
    return started.launch
  }

  recovery({ dir, marker, workspaceRoot, killGraceMs }: LaunchRequest, known: Partial<RecoverRequest> = {}): RecoverRequest {
    return { dir, marker, workspaceRoot, killGraceMs, keeper: null, child: null, ...known }
  }

  /** Contents of a file below the folder; empty while it is not there. */
  read(...path: readonly string[]): string {
    try {
      return readFileSync(join(this.folder, ...path), 'utf8')
    } catch {
      // ENOENT: not written yet.
      return ''
    }
  }

  /** A pid that a child wrote to a file of the workspace. */
  async pidFrom(name: string): Promise<number> {
    return Number(await until(`pid in ${name}`, () => /^\d+\n/.exec(this.read('tree', name))?.[0].trim() ?? null))
  }

  marked(): readonly number[] {
    return listProcesses().filter(row => !isDead(row) && readEnviron(row.pid)?.includes(`${MARK}=${this.#id}-`) === true).map(row => row.pid)
  }

  /** Ends what a test left: everything that carries a marker of this rig. */
  async dispose(): Promise<void> {
    const marked = new Set(this.marked())
    const left = listProcesses().filter(row => marked.has(row.pid)).map(identityOf)
    for (const process of left) signalProcess(process, 'SIGKILL')
    await until('marked processes gone', () => !left.some(isAlive))
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Collects what a launch delivers. */
export function collect(): { readonly listener: (chunk: LaunchChunk) => void, readonly text: (stream: LaunchChunk['stream']) => string } {
  const chunks: LaunchChunk[] = []
  return {
    listener: (chunk) => { chunks.push(chunk) },
    text: stream => Buffer.concat(chunks.filter(chunk => chunk.stream === stream).map(chunk => chunk.bytes)).toString('utf8'),
  }
}
