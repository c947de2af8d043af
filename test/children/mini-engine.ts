/**
 * The smallest engine: `mini-engine.ts <folder> <tasks> <prefix>`. Runs each task in one launch, or recovers the launch that an earlier engine left.
 * Journals by plain appends. Exits 0 when every task has a journalled end with a result. Says `up` first; made to be killed at any instant after that.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProcessIdentity } from '../../src/core/attempt-types.ts'
import type { LaunchChunk, LaunchExit, SweepResult } from '../../src/executor/keeper/launch-types.ts'
import { startLaunch } from '../../src/executor/keeper/launch.ts'
import { LineFramer } from '../../src/executor/stream/output-lines.ts'
import { recoverLaunch } from '../../src/executor/keeper/recover-launch.ts'

export interface Line {
  readonly kind: 'intended' | 'live' | 'adopted' | 'found-ended' | 'ended' | 'never-started'
  readonly task: number
  readonly launch: number
  readonly keeper?: ProcessIdentity
  readonly child?: ProcessIdentity | null
  readonly exit?: LaunchExit
  readonly result?: string | null
  readonly lines?: number
  readonly swept?: SweepResult
}

const OWNER = fileURLToPath(new URL('owner.ts', import.meta.url))
const MARK = 'DSH_TEST_MARK'
const [folder = '', tasks = '0', prefix = ''] = process.argv.slice(2)
const journal = join(folder, 'journal')
const append = (line: Line): void => appendFileSync(journal, `${JSON.stringify(line)}\n`)
const entries: readonly Line[] = existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line) as Line) : []

const placeOf = (task: number, launch: number): {
  readonly dir: string, readonly marker: { readonly name: string, readonly value: string }, readonly workspaceRoot: string, readonly killGraceMs: number
} => ({
  dir: join(folder, `t${task}-l${launch}`),
  marker: { name: MARK, value: `${prefix}-${task}-${launch}` },
  workspaceRoot: join(folder, 'tree'),
  killGraceMs: 1000,
})

/** Collects stdout until the end and journals it. */
async function follow(
  task: number, launch: number, exited: Promise<LaunchExit>, sweep: () => Promise<SweepResult>, read: (listener: (chunk: LaunchChunk) => void) => Promise<void> | void,
): Promise<boolean> {
  const framer = new LineFramer()
  const lines: string[] = []
  await read(({ stream, bytes }) => { if (stream === 'stdout') lines.push(...framer.push(bytes).map(line => line.text)) })
  const exit = await exited
  const last = lines.map(line => JSON.parse(line) as { readonly type: string, readonly result?: string }).findLast(line => line.type === 'result')
  append({ kind: 'ended', task, launch, exit, result: last?.result ?? null, lines: lines.length, swept: await sweep() })
  return last !== undefined
}

async function begin(task: number, launch: number): Promise<void> {
  append({ kind: 'intended', task, launch })
  const place = placeOf(task, launch)
  mkdirSync(place.dir, { mode: 0o700 })
  const started = await startLaunch({
    ...place,
    argv: [process.execPath, OWNER, folder, String(task), String(300 + task % 4 * 250)],
    cwd: place.workspaceRoot,
    env: { PATH: process.env['PATH'] ?? '', [MARK]: place.marker.value },
    // Every second prompt is larger than a pipe: an engine killed while it is written leaves half a request.
    prompt: 'p'.repeat(task % 2 === 0 ? 1000 : 400_000),
    maxStreamBytes: 1_000_000,
    maxRuntimeMs: 60_000,
    onEngineDeath: 'adopt',
  })
  if (started.kind === 'failed') throw new Error(`task ${task}: ${started.failure.message}`)
  const live = started.launch
  append({ kind: 'live', task, launch, keeper: live.keeper, child: live.child })
  if (!await follow(task, launch, live.exited, live.sweep, live.onChunk)) await begin(task, launch + 1)
}

async function runTask(task: number): Promise<void> {
  const own = entries.filter(line => line.task === task)
  const last = own.at(-1)
  if (last === undefined) return begin(task, 1)
  if (last.kind === 'never-started' || (last.kind === 'ended' && last.result === null)) return begin(task, last.launch + 1)
  if (last.kind === 'ended') return
  const known = own.findLast(line => line.kind === 'live' && line.launch === last.launch)
  const found = await recoverLaunch({ ...placeOf(task, last.launch), keeper: known?.keeper ?? null, child: known?.child ?? null })
  switch (found.kind) {
    case 'adopted':
      append({ kind: 'adopted', task, launch: last.launch })
      if (!await follow(task, last.launch, found.launch.exited, found.launch.sweep, found.launch.onChunk)) await begin(task, last.launch + 1)
      return
    case 'ended':
      append({ kind: 'found-ended', task, launch: last.launch })
      if (!await follow(task, last.launch, Promise.resolve(found.exit), found.sweep, found.read)) await begin(task, last.launch + 1)
      return
    case 'never-started':
      await found.sweep()
      append({ kind: 'never-started', task, launch: last.launch })
      return begin(task, last.launch + 1)
    case 'foreign':
      throw new Error(found.message)
  }
}

console.log('up')
mkdirSync(join(folder, 'tree'), { recursive: true })
await Promise.all(Array.from({ length: Number(tasks) }, (_, task) => runTask(task)))
