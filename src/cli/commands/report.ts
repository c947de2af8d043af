/** `report [run]`: writes the report of a run from its journal, also while it runs. */
import { join } from 'node:path'
import { readRun } from '../../engine/runs/runs.ts'
import { writeReports } from '../../engine/runs/write-reports.ts'
import { OpenClaudeError } from '../../errors.ts'
import { renderMarkdown } from '../../report/render-markdown.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'

export async function reportCommand([run]: readonly string[], options: CommonOptions, output: Output): Promise<number> {
  const snapshot = await readRun(run ?? null, configOf(options))
  if (snapshot === null) {
    throw new OpenClaudeError('OC_RUN_UNKNOWN', 'This repository has no run to report on.', { fix: 'Start one with: dsh-openclaude run graph.json' })
  }
  await writeReports(snapshot.runDir, snapshot.report)
  output.say(renderMarkdown(snapshot.report))
  output.say(`written: ${join(snapshot.runDir, 'report.json')} and report.md`)
  output.document(snapshot.report)
  return 0
}
