/** `status [run]`: read only, works while an engine drives the run. */
import { readRun } from '../../engine/runs/runs.ts'
import { exitCodeOf } from '../../report/build-report.ts'
import { renderResult } from '../entry-lines.ts'
import { table } from '../live-view.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { countsLine, taskRow } from '../task-rows.ts'

export async function statusCommand([run]: readonly string[], options: CommonOptions, output: Output): Promise<number> {
  const snapshot = await readRun(run ?? null, configOf(options))
  if (snapshot === null) {
    output.say('no run in this repository yet; start one with: dsh-openclaude run graph.json')
    output.document({ run: null })
    return 0
  }
  const { history, owner, report } = snapshot
  const state = history.result !== null
    ? renderResult(history.result)
    : owner === null ? `interrupted; go on with: dsh-openclaude resume ${history.run}` : `running under pid ${owner.pid} since ${owner.since}`
  output.say(`run ${history.run}: ${state}`)
  // Without an engine nothing goes on: times stand where the journal ends.
  const until = owner === null && history.lastAt !== null ? Date.parse(history.lastAt) : Date.now()
  for (const line of table(history.tasks.map(task => taskRow(task, undefined, 0, until)), process.stdout.columns || 160)) output.say(line)
  output.say(countsLine(history))
  output.document(report)
  return history.result === null ? 0 : exitCodeOf(history.result)
}
