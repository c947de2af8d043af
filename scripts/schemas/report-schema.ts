/** The shape of `report.json` as a schema for its readers. Made from the schema the report is written by. */
import { z } from 'zod'
import { reportSchema } from '../../src/report/report-schema.ts'

/** As a JSON Schema document (draft 2020-12). */
export function reportJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(reportSchema), title: 'Run report of dsh-openclaude' }
}
