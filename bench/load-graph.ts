/**
 * Time to load a graph file of 10,000 and of 100,000 tasks, as a ratio to reading and JSON.parse of the same file in the same run.
 * `ratio` is the median over pairs, whose two parts ran one after the other, so that other load on the machine touches both.
 * Prints one JSON line and one line per size for people; exits 1 when a ratio is above the limit.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readGraphFile } from '../src/engine/documents/graph-file.ts'

const LIMIT = 2.0
/** Tasks to rounds; a small file is over in one slice of the scheduler, so it needs more of them. */
const SIZES = [[10_000, 41], [100_000, 11]] as const

interface Measured {
  readonly tasks: number
  readonly rounds: number
  readonly megabytes: number
  readonly parseMs: number
  readonly loadMs: number
  readonly ratio: number
}

const folder = mkdtempSync(join(tmpdir(), 'load-graph-'))
try {
  const results: Measured[] = []
  for (const [tasks, rounds] of SIZES) results.push(measure(tasks, rounds))
  for (const { tasks, megabytes, parseMs, loadMs, ratio } of results) {
    const times = `${loadMs} ms against ${parseMs} ms for read + JSON.parse`
    console.error(`load-graph: ${tasks} tasks, ${megabytes} MB: ${times} = ${ratio} (limit ${LIMIT})`)
  }
  console.log(JSON.stringify({ bench: 'load-graph', limit: LIMIT, results }))
  if (results.some(({ ratio }) => ratio > LIMIT)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function measure(tasks: number, rounds: number): Measured {
  const path = join(folder, `graph-${tasks}.json`)
  const text = JSON.stringify({ tasks: Array.from({ length: tasks }, (_, index) => exampleTask(index)) }, null, 2)
  writeFileSync(path, text)
  // An engine keeps the graph it has loaded; here it also keeps compiled code from being thrown away between two rounds.
  const kept = readGraphFile(path, { trusted: true })
  const pairs: { readonly parse: number, readonly load: number }[] = []
  for (let round = -3; round < rounds; round += 1) {
    const parse = timed(() => JSON.parse(readFileSync(path, 'utf8')))
    const load = timed(() => readGraphFile(path, { trusted: true }))
    if (round >= 0) pairs.push({ parse, load })
  }
  return {
    tasks: kept.graph.tasks.length,
    rounds,
    megabytes: rounded(Buffer.byteLength(text) / 1e6, 1),
    parseMs: rounded(median(pairs.map(({ parse }) => parse)), 1),
    loadMs: rounded(median(pairs.map(({ load }) => load)), 1),
    ratio: rounded(median(pairs.map(({ parse, load }) => load / parse)), 2),
  }
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
  const start = performance.now()
  work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
