/**
 * Time to load a graph file of 10,000 and of 100,000 tasks, as a ratio to reading and JSON.parse of the same file in the same run.
 * Prints one JSON line and one line per size for people; exits 1 when a ratio is above the limit.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readGraphFile } from '../src/engine/documents/graph-file.ts'

const LIMIT = 2.0
const ROUNDS = 9

interface Measured {
  readonly tasks: number
  readonly megabytes: number
  readonly parseMs: number
  readonly loadMs: number
  readonly ratio: number
}

// Each measurement starts with a collected heap, so that neither side pays for the garbage of the other.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const folder = mkdtempSync(join(tmpdir(), 'load-graph-'))
try {
  const results: Measured[] = []
  for (const tasks of [10_000, 100_000]) results.push(measure(tasks))
  for (const { tasks, megabytes, parseMs, loadMs, ratio } of results) {
    console.error(`load-graph: ${tasks} tasks, ${megabytes} MB: ${loadMs} ms against ${parseMs} ms for read + JSON.parse = ${ratio} (limit ${LIMIT})`)
  }
  console.log(JSON.stringify({ bench: 'load-graph', limit: LIMIT, rounds: ROUNDS, results }))
  if (results.some(({ ratio }) => ratio > LIMIT)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function measure(tasks: number): Measured {
  const path = join(folder, `graph-${tasks}.json`)
  const text = JSON.stringify({ tasks: Array.from({ length: tasks }, (_, index) => exampleTask(index)) }, null, 2)
  writeFileSync(path, text)
  const parse: number[] = []
  const load: number[] = []
  for (let round = -2; round < ROUNDS; round += 1) {
    const parsed = timed(() => JSON.parse(readFileSync(path, 'utf8')))
    const loaded = timed(() => readGraphFile(path, { trusted: true }))
    if (round < 0) continue
    parse.push(parsed)
    load.push(loaded)
  }
  const parseMs = median(parse)
  const loadMs = median(load)
  return { tasks, megabytes: round1(Buffer.byteLength(text) / 1e6), parseMs: round1(parseMs), loadMs: round1(loadMs), ratio: Math.round(loadMs / parseMs * 100) / 100 }
}

/** About 500 bytes: a short task. The more text a task has, the less its checks weigh. */
function exampleTask(index: number): unknown {
  return {
    id: `port-module-${index}`,
    title: `Port module ${index} to the new client`,
    description: `Module ${index} still calls the old client. Move every call to the new one, keep the public functions as they are, `
      + 'and delete what is no longer used. The old client retries by itself, the new one does not: keep the number of retries.',
    acceptanceCriteria: ['The tests of the module pass.', 'No import of the old client is left in the module.'],
    dependencies: index === 0 ? [] : index < 10 ? ['port-module-0'] : [`port-module-${index - 1}`, `port-module-${Math.floor(index / 2)}`],
    priority: index % 7,
  }
}

function timed(work: () => unknown): number {
  collect()
  const start = performance.now()
  work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function round1(value: number): number {
  return Math.round(value * 10) / 10
}
