/**
 * Proves the watchdog's tests: switches off one clock or rule after the other in a copy of its source, plays the table of situations
 * against the copy, and demands that the named situation then comes out wrong. Exits 1 if any guard is not proven.
 *
 * Run with `node scripts/prove-guards.ts`.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { GUARDS, type Guard } from '../test/support/guards.ts'
import { outcomeOf, playSituation, type Situation } from '../test/support/situation.ts'
import { SITUATIONS } from '../test/support/situations.ts'
import type { Subject } from '../test/support/watch.ts'

const SOURCE = fileURLToPath(new URL('../src/', import.meta.url))

interface Proof {
  readonly guard: Guard
  readonly proven: boolean
  readonly remark: string
}

function copySource(root: string, name: string): string {
  const dir = join(root, name, 'src')
  mkdirSync(join(dir, 'core'), { recursive: true })
  cpSync(join(SOURCE, 'errors.ts'), join(dir, 'errors.ts'))
  cpSync(join(SOURCE, 'core'), join(dir, 'core'), { recursive: true })
  cpSync(join(SOURCE, 'executor'), join(dir, 'executor'), { recursive: true })
  return dir
}

async function load(dir: string): Promise<Subject> {
  const loadFile = async (file: string): Promise<object> => {
    const loaded: unknown = await import(pathToFileURL(join(dir, 'executor', file)).href)
    return loaded as object
  }
  return { ...await loadFile('stream/liveness.ts'), ...await loadFile('watchdog/watchdog.ts') } as Subject
}

/** Names of the situations that come out wrong. An exception counts as wrong. */
function wrong(subject: Subject): readonly string[] {
  return SITUATIONS.filter(situation => !isRight(subject, situation)).map(situation => situation.name)
}

function isRight(subject: Subject, situation: Situation): boolean {
  try {
    return JSON.stringify(outcomeOf(playSituation(subject, situation))) === JSON.stringify(situation.expect)
  } catch {
    // Whatever a damaged copy throws, it did not give the right answer.
    return false
  }
}

async function prove(root: string, guard: Guard, index: number): Promise<Proof> {
  if (!SITUATIONS.some(situation => situation.name === guard.situation)) return { guard, proven: false, remark: 'no situation has that name' }
  const dir = copySource(root, String(index))
  const path = join(dir, 'executor', guard.file)
  const text = readFileSync(path, 'utf8')
  if (text.split(guard.text).length !== 2) return { guard, proven: false, remark: `its text is not exactly once in ${guard.file}` }
  writeFileSync(path, text.replace(guard.text, () => guard.instead))
  const failing = wrong(await load(dir))
  const others = failing.length - 1
  return failing.includes(guard.situation)
    ? { guard, proven: true, remark: others === 0 ? 'it alone' : `and ${String(others)} more` }
    : { guard, proven: false, remark: `its situation still comes out right; ${String(failing.length)} others fail` }
}

async function main(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'prove-guards-'))
  try {
    writeFileSync(join(root, 'package.json'), '{"type":"module"}\n')
    const broken = wrong(await load(copySource(root, 'whole')))
    const proofs = await Promise.all(GUARDS.map(async (guard, index) => await prove(root, guard, index)))
    for (const { guard, proven, remark } of proofs) {
      console.log(`${proven ? 'proven    ' : 'NOT PROVEN'}  ${guard.guard.padEnd(58)}  ${guard.situation} (${remark})`)
    }
    for (const name of broken) console.log(`WRONG       with every guard on: ${name}`)
    const unproven = proofs.filter(proof => !proof.proven).length
    console.log(`${String(proofs.length - unproven)} guards proven, ${String(unproven)} not, over ${String(SITUATIONS.length)} situations`)
    process.exitCode = unproven === 0 && broken.length === 0 ? 0 : 1
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

await main()
