import { describe, expect, it } from 'vitest'
import type { ChildReport } from '../../src/core/attempt-types.ts'
import { parseReport, REPORT_INSTRUCTIONS } from '../../src/executor/stream/report-block.ts'

type Present = Extract<ChildReport, { kind: 'present' }>

const present = (fields: Partial<Present>): Present =>
  ({ kind: 'present', summary: '', files: [], verification: '', unfinished: '', ...fields })

const FULL = [
  'All done.', '', '## Report', 'Summary: Added the parser. It reads dates.', 'Files:', '- src/parse.ts', '- test/parse.spec.ts', 'Verification: `npm test` -> 12 passed', 'Unfinished: none',
].join('\n')
const full = present({ summary: 'Added the parser. It reads dates.', files: ['src/parse.ts', 'test/parse.spec.ts'], verification: '`npm test` -> 12 passed' })

describe('the report block (R-75)', () => {
  it('is asked for with all its fields', () => {
    expect(['## Report', 'Summary:', 'Files:', 'Verification:', 'Unfinished:'].every(part => REPORT_INSTRUCTIONS.includes(part))).toBe(true)
  })

  it.each<[string, string, ChildReport]>([
    ['in the form that is asked for', FULL, full],
    ['with CRLF', FULL.replaceAll('\n', '\r\n'), full],
    ['with bold labels as list items', FULL.replaceAll(/^(Summary|Files|Verification|Unfinished):/gm, '- **$1:**'), full],
    ['with labels as headings of a lower level', FULL.replaceAll(/^(Summary|Files|Verification|Unfinished):/gm, '### $1:\n'), full],
    ['as bold heading', FULL.replace('## Report', '**Report**'), full],
    ['in a fence that ends the text', FULL.replace('## Report', '```\n## Report').concat('\n```\n'), full],
    ['in a fence marked report', FULL.replace('## Report', '```report').concat('\n```'), full],
    ['after an earlier one', `## Report\nSummary: old\nFiles:\n- old.ts\n\n${FULL}`, full],
    ['before an example in a fence', `${FULL}\n\n## Notes\n\`\`\`md\n## Report\nSummary: example\n\`\`\`\nthat is all`, full],
    [
      'with output in a fence under verification', FULL.replace('-> 12 passed', '-> failed\n```\nSummary: 3 failed\nFiles: 2\n```'),
      present({ ...full, verification: '`npm test` -> failed\nSummary: 3 failed\nFiles: 2' }),
    ],
    [
      'with several lines of summary', FULL.replace('It reads dates.', 'It\n  reads dates.'),
      present({ ...full, summary: 'Added the parser. It\n  reads dates.' }),
    ],
    ['followed by another heading', `${FULL}\n\n## Afterword\nSummary: not this`, full],
    ['with files in one line', '## Report\nFiles: src/a.ts, `src/b c.ts`', present({ files: ['src/a.ts', 'src/b c.ts'] })],
    [
      'with remarks after the paths', '## Report\nFiles:\n1. ./src/a.ts (new)\n* `src/b.ts`: the rule\n- src/c.ts - removed\n- src/a.ts',
      present({ files: ['src/a.ts', 'src/b.ts', 'src/c.ts'] }),
    ],
    [
      'with nothing changed', '## Report\nSummary: Looked.\nFiles:\n- none\nVerification: none\nUnfinished: N/A.',
      present({ summary: 'Looked.' }),
    ],
    ['with only one field', 'Report:\nUnfinished: the tests', present({ unfinished: 'the tests' })],
    ['in no field at all', '## Report\nI am done.', { kind: 'absent' }],
    ['only as an example in a fence', '```\n## Report\nSummary: x\n```\nDone.', { kind: 'absent' }],
    ['only as a word', 'The report: Summary: done', { kind: 'absent' }],
    ['in an empty text', '', { kind: 'absent' }],
  ])('%s', (_, text, report) => {
    expect(parseReport(text)).toEqual(report)
  })

  it('is bounded', () => {
    const report = parseReport(`## Report\nSummary: ${'x'.repeat(100_000)}\nFiles:\n${Array.from({ length: 2_000 }, (_, index) => `- f${String(index)}`).join('\n')}`)
    expect(report.kind === 'present' && [report.summary.length, report.files.length]).toEqual([4_000, 500])
  })
})
