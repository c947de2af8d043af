/**
 * What a child has begun and not ended: tool calls without their result, background tasks.
 * One fold for the watchdog (which clock runs) and the envelope (did the launch end in order), so that both see the same.
 * Owns no time. Changed in place.
 */
import type { ChildRecord } from './child-record.ts'

/** Tools whose work is another agent: quiet for as long as a model may think (SEMANTICS 4). */
const AGENT_TOOLS: ReadonlySet<string> = new Set(['Agent', 'Task'])

interface OpenTool {
  readonly name: string
  /** The tool call it was made under; null = the main conversation. */
  readonly parent: string | null
}

export interface OpenWork {
  readonly tools: Map<string, OpenTool>
  /** Every id that was ever open: tells a closed call from one never seen. */
  readonly known: Set<string>
  /** Tasks started and not notified, with the call that started them. */
  readonly tasks: Map<string, string | null>
  /** Count of the newest heartbeat, lowered by notifications since. */
  reportedTasks: number
  lastTool: string | null
}

export function newOpenWork(): OpenWork {
  return { tools: new Map(), known: new Set(), tasks: new Map(), reportedTasks: 0, lastTool: null }
}

export function applyToWork(work: OpenWork, record: ChildRecord): void {
  switch (record.kind) {
    case 'assistant':
      for (const tool of record.toolUses) openTool(work, tool.id, { name: tool.name, parent: record.parent })
      return
    case 'user':
      for (const id of record.toolResults) closeTool(work, id)
      return
    case 'oversize':
      for (const id of record.toolIds) {
        if (record.type === 'assistant') openTool(work, id, { name: '', parent: null })
        else closeTool(work, id)
      }
      return
    case 'task':
      applyTask(work, record)
      return
    case 'heartbeat':
      if (record.source === 'record') applyTaskCount(work, record.backgroundTasks)
      return
    // A new turn: no call of an earlier one can still be running.
    case 'init':
      for (const id of mainTools(work)) closeTool(work, id)
      return
    case 'stream-event':
    case 'api-retry':
    case 'tool-progress':
    case 'result':
    case 'other':
    case 'noise':
      return
    default:
      record satisfies never
  }
}

/** Ids of open calls of the main conversation, oldest first. */
export function mainTools(work: OpenWork): readonly string[] {
  return [...work.tools].filter(([, tool]) => tool.parent === null).map(([id]) => id)
}

/** Names of the open calls of the main conversation, oldest first; '' where unknown. */
export function mainToolNames(work: OpenWork): readonly string[] {
  return [...work.tools.values()].filter(tool => tool.parent === null).map(tool => tool.name)
}

export function isAgentTool(name: string): boolean {
  return AGENT_TOOLS.has(name)
}

/** Tasks that run without an open call: by the newest count, or by start without notification, whichever is more. */
export function backgroundTasks(work: OpenWork): number {
  const started = [...work.tasks.values()].filter(toolUseId => toolUseId === null || !work.tools.has(toolUseId)).length
  return Math.max(work.reportedTasks, started)
}

/**
 * Whether a record under `parent` is news of the main conversation: its own records, those of an open call, and those of a call never seen.
 * What a helper in the background does (its call is closed) is not: it would hide that the main conversation hangs.
 */
export function belongsToMain(work: OpenWork, parent: string | null): boolean {
  return parent === null || work.tools.has(parent) || !work.known.has(parent)
}

function openTool(work: OpenWork, id: string, tool: OpenTool): void {
  if (work.tools.has(id)) return
  work.known.add(id)
  work.tools.set(id, tool)
  if (tool.name !== '') work.lastTool = tool.name
}

/** Closes a call and every call made under it. */
function closeTool(work: OpenWork, id: string): void {
  work.known.add(id)
  if (!work.tools.delete(id)) return
  for (const [nested, tool] of work.tools) {
    if (tool.parent === id) closeTool(work, nested)
  }
}

function applyTask(work: OpenWork, record: Extract<ChildRecord, { kind: 'task' }>): void {
  if (record.taskId === null) return
  if (record.event === 'started') work.tasks.set(record.taskId, record.toolUseId)
  if (record.event !== 'notification') return
  work.tasks.delete(record.taskId)
  work.reportedTasks = Math.max(0, work.reportedTasks - 1)
}

/** A count of none is the newest truth: tasks that were never notified are forgotten, but for those of an open call. */
function applyTaskCount(work: OpenWork, count: number): void {
  work.reportedTasks = count
  if (count > 0) return
  for (const [taskId, toolUseId] of work.tasks) {
    if (toolUseId === null || !work.tools.has(toolUseId)) work.tasks.delete(taskId)
  }
}
