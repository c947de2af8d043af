import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Each file breaks exactly one rule; the message is the one our configuration gives for it. */
const PLANTED = [
  { file: 'src/core/planted-io.ts', text: "import { readFileSync } from 'node:fs'\nexport const read = readFileSync\n", says: 'core decides; it does no I/O.' },
  { file: 'src/core/planted-arrow.ts', text: "import { x } from '../engine/x.ts'\nexport const y = x\n", says: 'core imports nothing but itself and ../errors.ts.' },
  { file: 'src/core/planted-clock.ts', text: 'export const now = (): number => Date.now()\n', says: 'Time arrives in events.' },
  { file: 'src/core/planted-chance.ts', text: 'export const roll = (): number => Math.random()\n', says: 'Randomness arrives in events.' },
  { file: 'src/core/planted-timer.ts', text: 'export const wait = (work: () => void): unknown => setTimeout(work, 1)\n', says: 'Pure files have no timers.' },
  { file: 'src/executor/watchdog/state.ts', text: 'export const now = (): number => Date.now()\n', says: 'Time arrives in events.' },
  { file: 'src/executor/stream/planted.ts', text: "import { readFileSync } from 'node:fs'\nexport const read = readFileSync\n", says: 'Pure files take facts as arguments; they do no I/O.' },
  { file: 'src/supervision/grade.ts', text: 'export const pid = (): number => process.pid\n', says: 'Pure files take facts as arguments.' },
  { file: 'src/executor/keeper/planted.ts', text: "import { x } from '../../engine/runs/x.ts'\nexport const y = x\n", says: 'Arrows point down: engine uses this folder, never the reverse.' },
  { file: 'src/executor/plain/planted.ts', text: "import { x } from '../../index.ts'\nexport const y = x\n", says: 'Arrows point down: engine uses this folder, never the reverse.' },
  { file: 'src/engine/runs/planted.ts', text: "import { x } from '../../cli/x.ts'\nexport const y = x\n", says: 'Arrows point down: hosts use the engine, never the reverse.' },
  { file: 'src/simulator/planted.ts', text: "import { x } from '../core/x.ts'\nexport const y = x\n", says: 'The simulator stands for another program: it shares no code with the product.' },
] as const

interface Diagnostic {
  readonly filename: string
  readonly help: string
  readonly message: string
}

describe('the lint rules', () => {
  it('report every planted breach of purity and of the arrows, and nothing else', () => {
    const folder = tempFolder()
    copyFileSync(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
    for (const { file, text } of PLANTED) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const oxlint = join(ROOT, 'node_modules', '.bin', 'oxlint')
    const { stdout } = spawnSync(oxlint, ['--disable-nested-config', '--format', 'json'], { cwd: folder, encoding: 'utf8' })
    const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] }
    const found = diagnostics.map(({ filename, help, message }) => {
      const planted = PLANTED.find(({ file }) => file === filename)
      return { file: filename, says: planted !== undefined && `${help} ${message}`.includes(planted.says) ? planted.says : `${message} ${help}` }
    })
    expect(found.toSorted(byFile)).toEqual(PLANTED.map(({ file, says }) => ({ file, says })).toSorted(byFile))
  })
})

function byFile(a: { readonly file: string }, b: { readonly file: string }): number {
  return a.file < b.file ? -1 : 1
}
