/** Ways to get work accepted that the project's own commands do not prove, each tried with the real command line. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GENESIS_HASH, hashLine } from '../../src/engine/journal/format.ts'
import type { Scenario } from '../../src/simulator/scenario.ts'
import { cliRig, PROVABLE } from '../support/cli-rig.ts'

const ONE = { tasks: [{ id: 'a', maxAttempts: 1 }] }

describe('nothing is accepted on an older proof', () => {
  const RED = 'if (process.env.MODE === "bad" || readFileSync("side.txt", "utf8") !== "good") process.exit(1)\n'
  const FILES = { ...PROVABLE, '.gitignore': 'side.txt\n', 'side.txt': 'good', 'check.mjs': `import { readFileSync } from "node:fs"\n${RED}console.log("# tests 1\\n# pass 1")\n` }

  test.each([
    ['an ignored file', 'bad', { MODE: 'good' }],
    ['the value of a variable', 'good', { MODE: 'bad' }],
  ])('when %s changed and the tree is the same (R-93)', async (_, side, env) => {
    const rig = cliRig({ files: FILES })
    rig.project.git('init', '-q')
    const graph = rig.writeGraph(ONE)
    expect((await rig.run(['run', graph], { MODE: 'good' })).code).toBe(0)
    rmSync(rig.project.path('a.txt'))
    rig.project.write('side.txt', side)
    expect((await rig.run(['run', graph], env)).code).toBe(1)
    expect(rig.report().tasks.map(task => [task.status, task.verdict])).toEqual([['escalated', 'rejected']])
  })
})

describe('the package manager is not talked into another shell', () => {
  test.each([['npm', '.npmrc', 'script-shell=/bin/true\n']])('%s by %s (T11)', async (_, file, content) => {
    const scenario: Scenario = { rules: [{ play: [{ do: 'write', path: 'broken', content: '' }, { do: 'write', path: file, content }, { do: 'text', text: 'Done.' }] }] }
    const rig = cliRig({ scenario })
    expect((await rig.run(['run', rig.writeGraph(ONE)])).code).toBe(1)
    expect(rig.report().tasks.map(task => task.verdict)).toEqual(['rejected'])
  })
})

describe('what a run was started with', () => {
  test('is not changed by hand afterwards, so that other checks decide (R-93)', async () => {
    const rig = cliRig({ scenario: { rules: [{ play: [{ do: 'write', path: 'broken', content: '' }, { do: 'text', text: 'Done.' }] }] } })
    expect((await rig.run(['run', rig.writeGraph(ONE)])).code).toBe(1)
    const path = join(dirname(rig.journalPath()), 'run.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('node check.mjs', 'true'))
    const ended = await rig.run(['retry', rig.report().run.id, 'a'])
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('run.json was changed after it was written') as string })
  })

  test('and did is shown where a newer version wrote the journal, and nothing goes on with it (F33)', async () => {
    const rig = cliRig()
    expect((await rig.run(['run', rig.writeGraph(ONE)])).code).toBe(0)
    let prev = GENESIS_HASH
    const lines = readFileSync(rig.journalPath(), 'utf8').trimEnd().split('\n').map(line => {
      const newer = JSON.stringify({ ...JSON.parse(line) as object, v: 2, prev })
      prev = hashLine(Buffer.from(newer))
      return `${newer}\n`
    })
    writeFileSync(rig.journalPath(), lines.join(''))
    expect(await rig.run(['status'])).toMatchObject({ code: 0, stdout: expect.stringContaining('1/1 accepted') as string })
    expect((await rig.run(['report'])).code).toBe(0)
    expect(await rig.run(['resume'])).toMatchObject({ code: 3, stderr: expect.stringContaining('OC_JOURNAL_VERSION') as string })
  })
})
