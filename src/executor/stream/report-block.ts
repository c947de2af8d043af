/**
 * The `Report` block a child is asked to write at the end of its final text: the request, and the reader.
 * What the block claims is compared with the tree by the judge; here it is only read.
 */
import type { ChildReport } from '../../core/attempt-types.ts'

/** For the appended system prompt. */
export const REPORT_INSTRUCTIONS = [
  'When the work is done, end your last message with a report in exactly this form, and write nothing after it:',
  '',
  '## Report',
  'Summary: <what you changed and why, in at most three sentences>',
  'Files:',
  '- <path of each file you created, changed or deleted, relative to the working directory; "- none" if there is none>',
  'Verification: <the exact command you ran last to check the work, and its result; "none" if you ran none>',
  'Unfinished: <what is left to do or uncertain; "none" if nothing>',
  '',
  'Report only what you did. A command you did not run, or that failed, must be reported as such.',
].join('\n')

const FIELDS = ['summary', 'files', 'verification', 'unfinished'] as const
type Field = (typeof FIELDS)[number]

const MAX_FIELD_CHARS = 4_000
const MAX_FILES = 500
const HEADING = /^\s{0,3}(?:#{1,6}\s*\**\s*Report\s*\**\s*:?\s*#*|\*\*\s*Report\s*:?\s*\*\*\s*:?|Report\s*:?)\s*$/i
const OTHER_HEADING = /^\s{0,3}#{1,6}\s+\S/
const LABEL = /^\s*(?:[-*+]\s+|#{2,6}\s+)?\**\s*(Summary|Files|Verification|Unfinished)\b[^:\n]{0,40}?\s*:\s*\**\s*(.*)$/i
const FENCE = /^\s{0,3}(`{3,}|~{3,})(.*)$/
const NOTHING = /^\W*(?:none|nothing|n\/a|no files?)?\W*$/i

/**
 * The last report block of a final text. A heading inside a code fence is an example, unless the fence is the last thing in the text;
 * labels inside a fence within the block are output, not fields. Absent when no block is found, or one without a single field.
 */
export function parseReport(text: string): ChildReport {
  const lines = markFences(text)
  const start = blockStart(lines)
  if (start === null) return { kind: 'absent' }
  const fields = readFields(lines, start)
  if (fields.size === 0) return { kind: 'absent' }
  const textOf = (field: Field): string => bare(fields.get(field) ?? [])
  return {
    kind: 'present',
    summary: textOf('summary'),
    files: readFiles(fields.get('files') ?? []),
    verification: textOf('verification'),
    unfinished: textOf('unfinished'),
  }
}

interface Line {
  readonly text: string
  /** Number of the fence the line is in, delimiters included; 0 = outside. */
  readonly fence: number
  readonly delimiter: boolean
}

function markFences(text: string): readonly Line[] {
  let open: string | null = null
  let fence = 0
  return text.split(/\r?\n/).map(line => {
    const mark = FENCE.exec(line)
    const ticks = mark?.[1] ?? null
    if (open === null && ticks !== null) {
      open = ticks
      fence += 1
      return { text: line, fence, delimiter: true }
    }
    const inside = open === null ? 0 : fence
    const closes = open !== null && ticks !== null && ticks.startsWith(open) && (mark?.[2] ?? '').trim() === ''
    if (closes) open = null
    return { text: line, fence: inside, delimiter: closes }
  })
}

/** Index of the heading, or of the line that opens a fence marked `report`. */
function blockStart(lines: readonly Line[]): number | null {
  const lastFence = trailingFence(lines)
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index]
    if (line === undefined || (line.fence !== 0 && line.fence !== lastFence)) continue
    if (!line.delimiter && HEADING.test(line.text)) return index
    if (line.delimiter && /^\s{0,3}(?:`{3,}|~{3,})\s*report\s*$/i.test(line.text)) return index
  }
  return null
}

/** Number of the fence that ends the text; 0 when something else does. */
function trailingFence(lines: readonly Line[]): number {
  return lines.findLast(line => line.text.trim() !== '')?.fence ?? 0
}

function readFields(lines: readonly Line[], start: number): ReadonlyMap<Field, readonly string[]> {
  const fields = new Map<Field, string[]>()
  const fence = lines[start]?.fence ?? 0
  let current: string[] | null = null
  for (const line of lines.slice(start + 1)) {
    if (fence !== 0 && line.fence !== fence) break
    if (line.delimiter) continue
    const label = line.fence === fence ? LABEL.exec(line.text) : null
    const field = FIELDS.find(name => name === label?.[1]?.toLowerCase())
    if (field !== undefined) {
      current = [label?.[2] ?? '']
      fields.set(field, current)
    } else if (line.fence === fence && OTHER_HEADING.test(line.text)) {
      break
    } else {
      current?.push(line.text)
    }
  }
  return fields
}

function bare(lines: readonly string[]): string {
  const text = lines.join('\n').trim().replace(/^\*\*\s*/, '').slice(0, MAX_FIELD_CHARS)
  return NOTHING.test(text) ? '' : text
}

/** One path per list item, or several after the label with commas between. Backticks win; a remark after the path is cut. */
function readFiles(lines: readonly string[]): readonly string[] {
  const [inline = '', ...items] = lines
  const named = [...splitInline(inline), ...items.map(item => item.trim().replace(/^(?:[-*+]|\d+[.)])\s+/, ''))]
  const paths = named.map(pathOf).filter(path => path !== '')
  return [...new Set(paths)].slice(0, MAX_FILES)
}

function splitInline(text: string): readonly string[] {
  return text.split(/,\s+/).map(part => part.trim())
}

function pathOf(item: string): string {
  if (NOTHING.test(item)) return ''
  const quoted = /`([^`]+)`/.exec(item)?.[1]
  const path = quoted ?? item.replace(/\s+(?:[-–—:(#]|->).*$/, '').replace(/[:;,.]+$/, '')
  return path.replaceAll('**', '').trim().replace(/^\.\//, '')
}
