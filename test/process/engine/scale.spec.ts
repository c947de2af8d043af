/** Large runs over the cheap executor with the journal on, and large graphs without a run (T24). `OC_SCALE` overrides the number of tasks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defaultConfig, resolveConfig } from '../../../src/config.ts'
import { runPolicy } from '../../../src/core/run-policy.ts'
import { newRunState } from '../../../src/core/run-state.ts'
import { readGraphFile } from '../../../src/engine/documents/graph-file.ts'
import { planRun } from '../../../src/engine/runs/plan-run.ts'
import { ledgerOf } from '../../support/cheap-executor.ts'
import { cheapGraph, engineRig } from '../../support/engine-rig.ts'
import { expectSoundHistory } from '../../support/history-checker.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { waitFor } from '../../support/wait-for.ts'

const TASKS = Number(process.env['OC_SCALE'] ?? 1000)

const SHAPES = {
  'in a chain': cheapGraph(Array.from({ length: TASKS }, (_, index) => (index === 0 ? ['t0'] : [`t${index}`, `t${index - 1}`]))),
  'independent': cheapGraph(Array.from({ length: TASKS }, (_, index) => [`t${index}`])),
}

describe.each(Object.entries(SHAPES))(`${TASKS} tasks %s`, (_, graph) => {
  test('survive a kill -9 in the middle; resume finishes them and does nothing accepted again', { timeout: 300_000 }, async () => {
    const rig = engineRig({ folder: tempFolder(), graph })
    const engine = rig.spawn('start')
    await waitFor('half of the work is done', () => ledgerOf(rig.ledger).length >= TASKS / 2, 120_000)
    engine.kill('SIGKILL')
    expect((await engine.ended).signal).toBe('SIGKILL')
    const before = ledgerOf(rig.ledger)
    expect(before.length).toBeLessThan(TASKS)
    expect(await rig.resume()).toBe('complete')
    const entries = await expectSoundHistory(rig.journalPath())
    const accepted = entries.flatMap(entry => (entry.kind === 'task-accepted' ? [entry.task] : []))
    expect([accepted.length, new Set(accepted).size]).toEqual([TASKS, TASKS])
    const died = entries.findLastIndex(entry => entry.kind === 'engine-started')
    const acceptedBefore = new Set(entries.slice(0, died).flatMap(entry => (entry.kind === 'task-accepted' ? [entry.task] : [])))
    const again = ledgerOf(rig.ledger).slice(before.length).map(line => line.split('/')[0] ?? '')
    expect(again.filter(task => acceptedBefore.has(task))).toEqual([])
    // Only what was under way at the kill may be done twice.
    expect(ledgerOf(rig.ledger).length - TASKS).toBeLessThanOrEqual(4)
  })
})

test('a graph of 100,000 tasks in one chain is read, planned and made ready without recursion (T24)', { timeout: 300_000 }, async () => {
  const folder = tempFolder()
  const path = join(folder, 'graph.json')
  writeFileSync(path, JSON.stringify({ tasks: Array.from({ length: 100_000 }, (_, index) => ({ id: `t${index}`, dependencies: index === 0 ? [] : [`t${index - 1}`] })) }))
  const begun = performance.now()
  const { graph } = readGraphFile(path, { trusted: true })
  const config = resolveConfig({ flag: { value: { workdir: folder }, source: 'test' } }, { cwd: folder, home: folder, env: {}, surface: 'cli' })
  const plan = await planRun(graph, config)
  const state = newRunState(graph, 'run', runPolicy(defaultConfig('cli'), []))
  expect([plan.tasks.length, state.counts.ready, state.tasks[0]?.remainingPath]).toEqual([100_000, 1, 100_000])
  // About 2 s on an idle machine.
  expect(performance.now() - begun).toBeLessThan(60_000)
})
