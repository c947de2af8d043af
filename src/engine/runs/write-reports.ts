/** Writes `report.json` and `report.md` of a run. */
import { join } from 'node:path'
import { renderMarkdown } from '../../report/render-markdown.ts'
import type { Report } from '../../report/report-schema.ts'
import { writeFileDurable } from '../state/durable-file.ts'

export async function writeReports(runDir: string, report: Report): Promise<void> {
  await writeFileDurable(join(runDir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
  await writeFileDurable(join(runDir, 'report.md'), `${renderMarkdown(report)}\n`)
}
