/**
 * Time to load a graph file of 10,000 and of 100,000 tasks, as a ratio to reading and JSON.parse of the same file in the same run.
 * Prints one JSON line and one line per size for people; exits 1 when a ratio is above the limit.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readGraphFile } from '../src/engine/graph-file.ts'

const LIMIT = 2.0
const ROUNDS = 9

interface Measured {
  readonly tasks: number
  readonly megabytes: number
  readonly parseMs: number
  readonly loadMs: number
  readonly ratio: number
}

const folder = mkdtempSync(join(tmpdir(), 'load-graph-'))
try {
  const results: Measured[] = []
  for (const tasks of [10_000, 100_000]) results.push(await measure(tasks))
  for (const { tasks, megabytes, parseMs, loadMs, ratio } of results) {
    console.error(`load-graph: ${tasks} tasks, ${megabytes} MB: ${loadMs} ms against ${parseMs} ms for read + JSON.parse = ${ratio} (limit ${LIMIT})`)
  }
  console.log(JSON.stringify({ bench: 'load-graph', limit: LIMIT, rounds: ROUNDS, results }))
  if (results.some(({ ratio }) => ratio > LIMIT)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure(tasks: number): Promise<Measured> {
  const path = join(folder, `graph-${tasks}.json`)
  const text = JSON.stringify({ tasks: Array.from({ length: tasks }, (_, index) => exampleTask(index)) }, null, 2)
  writeFileSync(path, text)
  const parse: number[] = []
  const load: number[] = []
  for (let round = -2; round < ROUNDS; round += 1) {
    const parsed = await timed(() => JSON.parse(readFileSync(path, 'utf8')))
    const loaded = await timed(() => readGraphFile(path, { trusted: true }))
    if (round < 0) continue
    parse.push(parsed)
    load.push(loaded)
  }
  const parseMs = median(parse)
  const loadMs = median(load)
  return { tasks, megabytes: round1(Buffer.byteLength(text) / 1e6), parseMs: round1(parseMs), loadMs: round1(loadMs), ratio: Math.round(loadMs / parseMs * 100) / 100 }
}

/** A short task: the less text per task, the more the ratio shows of the checks. */
function exampleTask(index: number): unknown {
  return {
    id: `task-${index}`,
    title: `Port module ${index}`,
    description: `Move module ${index} to the new client and keep its public functions.`,
    acceptanceCriteria: ['The tests of the module pass.'],
    dependencies: index === 0 ? [] : index < 10 ? ['task-0'] : [`task-${index - 1}`, `task-${Math.floor(index / 2)}`],
    priority: index % 7,
    assignee: 'openclaude',
  }
}

async function timed(work: () => unknown): Promise<number> {
  globalThis.gc?.()
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function round1(value: number): number {
  return Math.round(value * 10) / 10
}
