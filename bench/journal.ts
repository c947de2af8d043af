/**
 * What the journal costs, as rates and as ratios against the bare work in the same process: `node bench/journal.ts [entries]`.
 * Writing: batches of one entry with and without a sync. Reading: the proving reader against JSON.parse of the same lines.
 * Redaction: a redactor with an ordinary environment against none.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Entry } from '../src/core/entry-types.ts'
import { createJournal, createMemoryJournal } from '../src/engine/journal/journal.ts'
import { readJournal } from '../src/engine/journal/reader.ts'
import { createRedactor } from '../src/engine/secrets/redact.ts'
import type { Redactor } from '../src/engine/secrets/redact.ts'

const count = Number(process.argv[2] ?? 300_000)
const folder = mkdtempSync(join(tmpdir(), 'oc-bench-'))
const plain: Redactor = { names: [], finds: () => false, redact: text => text, redactDeep: value => value, matches: () => [], multilineLength: 0 }
const secrets = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`SERVICE_${index}_TOKEN`, `tok-${index}-${'x9'.repeat(14)}${index}`]))

const lazyEntry = (index: number): Entry => ({
  kind: 'launch-swept', task: `task-${index}`, attempt: 1, launch: 1, result: 'clean', ended: 0,
})
const syncedEntry = (index: number): Entry => ({
  kind: 'decision', task: `task-${index}`, attempt: 1, round: 1, by: 'policy',
  decision: { kind: 'accept', reason: 'All required checks passed on the tree that would land: lint, typecheck, build and test.' },
})

async function timed(work: () => Promise<void> | void): Promise<{ readonly wallMs: number, readonly cpuMs: number }> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { wallMs: performance.now() - start, cpuMs: (user + system) / 1000 }
}

async function writeFileJournal(name: string, entries: number, { entry, redactor }: { readonly entry: (index: number) => Entry, readonly redactor: Redactor }): Promise<string> {
  const path = join(folder, name)
  const journal = await createJournal(path, { redactor, onPoisoned: () => {} })
  for (let index = 0; index < entries; index += 1) await journal.append([entry(index)])
  await journal.close()
  return path
}

function report(what: string, entries: number, { wallMs, cpuMs }: { readonly wallMs: number, readonly cpuMs: number }): void {
  console.log(`${what}: ${Math.round(entries / wallMs * 1000)} entries/s, ${(cpuMs / entries * 1000).toFixed(1)} µs CPU each`)
}

try {
  await timed(() => writeFileJournal('warm', 20_000, { entry: lazyEntry, redactor: plain }).then(() => {}))
  const redactor = createRedactor({ env: secrets })
  let path = ''
  report('write, no sync, no redactor', count, await timed(async () => void (path = await writeFileJournal('lazy', count, { entry: shortOrLong, redactor: plain }))))
  report('write, no sync, 12 secrets', count, await timed(async () => void await writeFileJournal('redacted', count, { entry: shortOrLong, redactor })))
  report('write, a sync each', 500, await timed(async () => void await writeFileJournal('synced', 500, { entry: syncedEntry, redactor })))
  const { journal } = createMemoryJournal({ redactor, onPoisoned: () => {} })
  report('write, in memory, 12 secrets', 50_000, await timed(async () => {
    for (let index = 0; index < 50_000; index += 1) await journal.append([lazyEntry(index)])
  }))

  const megabytes = statSync(path).size / 1e6
  const parsed = await timed(() => {
    for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') JSON.parse(line)
  })
  let seen = 0
  const read = await timed(async () => void await readJournal(path, () => (seen += 1)))
  console.log(`read and prove ${seen} entries, ${megabytes.toFixed(0)} MB: ${(megabytes / read.wallMs * 1000).toFixed(0)} MB/s, ${(read.cpuMs / megabytes).toFixed(1)} CPU-ms/MB`)
  console.log(`JSON.parse of the same lines: ${(parsed.cpuMs / megabytes).toFixed(1)} CPU-ms/MB; ratio ${(read.cpuMs / parsed.cpuMs).toFixed(2)}`)
} finally {
  rmSync(folder, { recursive: true })
}

/** 300 to 500 bytes, of kinds that demand no sync. */
function shortOrLong(index: number): Entry {
  if (index % 2 === 0) return lazyEntry(index)
  return { kind: 'warning', task: `task-${index}`, code: 'note', message: 'The child asked for something that nobody could answer, and went on without it after a while. '.repeat(3) }
}
