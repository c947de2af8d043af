/**
 * Reads the head of a line that was too long to keep (F18): its type and the tool ids it names.
 * A string-aware scan of cut JSON; it never fails and never looks at text inside string values.
 */

export interface OversizeHead {
  /** Top-level `type`; null when the head holds none or is no JSON object. */
  readonly type: string | null
  /** `tool_use_id` of results and `id` of tool calls, as far as the head reaches. */
  readonly toolIds: readonly string[]
}

interface Frame {
  readonly array: boolean
  /** The key whose value is being read. */
  key: string | null
  type: string | null
  id: string | null
}

/** @param head The first part of one JSON line, cut anywhere. */
export function readOversizeHead(head: string): OversizeHead {
  const frames: Frame[] = []
  const toolIds = new Set<string>()
  let type: string | null = null
  let position = 0
  while (position < head.length) {
    const char = head[position]
    const frame = frames.at(-1)
    if (char === '"') {
      const end = endOfString(head, position)
      if (end === null) break
      const text = readString(head.slice(position, end))
      position = end
      if (frame === undefined) return { type: null, toolIds: [] }
      if (frame.array) continue
      if (frame.key === null) {
        frame.key = text
        continue
      }
      if (frames.length === 1 && frame.key === 'type') type = text
      if (isContentBlock(frames)) noteBlock(frame, text, toolIds)
      continue
    }
    if (char === '{' || char === '[') frames.push({ array: char === '[', key: null, type: null, id: null })
    else if (char === '}' || char === ']') frames.pop()
    else if (char === ',' && frame !== undefined) frame.key = null
    position += 1
  }
  return { type, toolIds: [...toolIds] }
}

/** True inside an element of `message.content`: four containers deep, by these keys. */
function isContentBlock(frames: readonly Frame[]): boolean {
  return frames.length === 4 && frames[0]?.key === 'message' && frames[1]?.key === 'content' && frames[2]?.array === true
}

function noteBlock(block: Frame, value: string, toolIds: Set<string>): void {
  if (block.key === 'tool_use_id') toolIds.add(value)
  if (block.key === 'type') block.type = value
  if (block.key === 'id') block.id = value
  if (block.type === 'tool_use' && block.id !== null) toolIds.add(block.id)
}

/** Position after the closing quote, or null when the text ends before it. */
function endOfString(text: string, start: number): number | null {
  for (let position = start + 1; position < text.length; position += 1) {
    const char = text[position]
    if (char === '\\') position += 1
    else if (char === '"') return position + 1
  }
  return null
}

function readString(literal: string): string {
  try {
    const value: unknown = JSON.parse(literal)
    return typeof value === 'string' ? value : ''
  } catch {
    // Only a broken escape gets here: such a string is neither a known key nor an id.
    return ''
  }
}
