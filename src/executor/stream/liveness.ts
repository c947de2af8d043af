/**
 * Decodes one line of a child's output into a record: the only place that knows the field names of stream-json.
 * Owns the classes record, heartbeat, noise; does not decide what counts as progress (`../watchdog/state.ts`) or what a run was worth
 * (`envelope.ts`).
 */
import type { ChildRecord, FramedLine } from './child-record.ts'
import { amountOf, isObject, listOf, objectOf, textOf, type JsonObject } from './json-value.ts'
import { readOversizeHead } from './oversize-head.ts'
import { decodeResult, decodeUsage } from './result-record.ts'

const NOISE: ChildRecord = { kind: 'noise' }
const MAX_NAME_CHARS = 80

/** One stdout line. Never throws: what is no JSON object with a `type` is noise, what has an unknown `type` is `other`. */
export function decodeRecord(line: FramedLine): ChildRecord {
  if (line.oversize) return decodeOversize(line.text)
  const text = line.text.trim()
  if (!text.startsWith('{')) return NOISE
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // JSON.parse throws nothing but syntax errors: the line is no record.
    return NOISE
  }
  return decodeValue(value)
}

/** One already parsed value, for the records of a json array. */
export function decodeValue(value: unknown): ChildRecord {
  if (!isObject(value)) return NOISE
  const type = textOf(value['type'])
  switch (type) {
    case null:
      return NOISE
    case 'assistant':
      return { kind: 'assistant', toolUses: toolUsesOf(value), parent: parentOf(value) }
    case 'user':
      return { kind: 'user', toolResults: toolResultsOf(value), parent: parentOf(value) }
    case 'stream_event':
      return decodeStreamEvent(value)
    case 'tool_progress':
      return { kind: 'tool-progress', toolUseId: textOf(value['tool_use_id']) ?? '', parent: parentOf(value) }
    case 'result':
      return decodeResult(value)
    case 'system':
      return decodeSystem(value)
    // A keep-alive of the transport says no more than a heartbeat does.
    case 'keep_alive':
      return NOISE
    default:
      return { kind: 'other', type: nameOf(type) }
  }
}

const TEXT_HEARTBEAT = /^openclaude: heartbeat (?<pairs>.*)$/

/**
 * One stderr line: the heartbeat of json and text format (`openclaude: heartbeat elapsed=16.0s quiet=16.0s state=running …`), else noise.
 * Unknown keys and fractions are tolerated; absent keys count as 0 and ''.
 */
export function decodeStderrLine(line: FramedLine): ChildRecord {
  const pairs = TEXT_HEARTBEAT.exec(line.text.trimEnd())?.groups?.['pairs']
  if (pairs === undefined) return NOISE
  const fields = new Map(pairs.split(/\s+/).map((pair): [string, string] => {
    const at = pair.indexOf('=')
    return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
  }))
  return {
    kind: 'heartbeat',
    source: 'text',
    elapsedMs: secondsOf(fields.get('elapsed')),
    sinceLastActivityMs: secondsOf(fields.get('quiet')),
    state: nameOf(fields.get('state')),
    phase: nameOf(fields.get('phase')),
    pendingPermissions: 0,
    backgroundTasks: 0,
  }
}

function secondsOf(text: string | undefined): number {
  return Math.round(amountOf(Number.parseFloat(text ?? '')) * 1000)
}

function decodeOversize(head: string): ChildRecord {
  const { type, toolIds } = readOversizeHead(head)
  return type === null ? NOISE : { kind: 'oversize', type, toolIds }
}

function decodeSystem(value: JsonObject): ChildRecord {
  const subtype = textOf(value['subtype'])
  switch (subtype) {
    case null:
      return { kind: 'other', type: 'system' }
    case 'init':
      return { kind: 'init', model: textOf(value['model']), sessionId: textOf(value['session_id']) }
    case 'heartbeat':
      return decodeHeartbeat(value)
    case 'api_retry':
      return {
        kind: 'api-retry',
        attempt: amountOf(value['attempt']),
        delayMs: amountOf(value['retry_delay_ms']),
        status: typeof value['error_status'] === 'number' ? value['error_status'] : null,
        error: textOf(value['error']) ?? '',
      }
    case 'task_started':
      return decodeTask(value, 'started')
    case 'task_progress':
      return decodeTask(value, 'progress')
    case 'task_notification':
      return decodeTask(value, 'notification')
    default:
      return { kind: 'other', type: `system/${nameOf(subtype)}` }
  }
}

function decodeTask(value: JsonObject, event: 'started' | 'progress' | 'notification'): ChildRecord {
  return { kind: 'task', event, taskId: textOf(value['task_id']), toolUseId: textOf(value['tool_use_id']) }
}

function decodeHeartbeat(value: JsonObject): ChildRecord {
  const tasks = objectOf(value['background_tasks'])
  return {
    kind: 'heartbeat',
    source: 'record',
    elapsedMs: amountOf(value['elapsed_ms']),
    sinceLastActivityMs: amountOf(value['since_last_activity_ms']),
    state: nameOf(value['state']),
    phase: nameOf(value['phase']),
    pendingPermissions: amountOf(value['pending_permission_requests']),
    backgroundTasks: Object.values(tasks).reduce<number>((sum, count) => sum + amountOf(count), 0),
  }
}

/** A `ping` is the model server's keep-alive: it proves a connection, not that the model says anything. */
function decodeStreamEvent(value: JsonObject): ChildRecord {
  const event = objectOf(value['event'])
  if (event['type'] === 'ping') return NOISE
  return {
    kind: 'stream-event',
    parent: parentOf(value),
    usage: event['type'] === 'message_delta' && isObject(event['usage']) ? decodeUsage(event['usage']) : null,
  }
}

/** Names reach people and reports: bounded, one line, no control characters; '' when absent. */
function nameOf(value: unknown): string {
  return (textOf(value) ?? '').slice(0, MAX_NAME_CHARS).replaceAll(/[^\x20-\x7e]/g, '?')
}

function parentOf(value: JsonObject): string | null {
  return textOf(value['parent_tool_use_id'])
}

function contentOf(value: JsonObject): readonly JsonObject[] {
  return listOf(objectOf(value['message'])['content']).map(objectOf)
}

function toolUsesOf(value: JsonObject): readonly { readonly id: string, readonly name: string }[] {
  return contentOf(value).flatMap(block => {
    const id = textOf(block['id'])
    return block['type'] === 'tool_use' && id !== null ? [{ id, name: nameOf(block['name']) }] : []
  })
}

function toolResultsOf(value: JsonObject): readonly string[] {
  return contentOf(value).flatMap(block => {
    const id = textOf(block['tool_use_id'])
    return block['type'] === 'tool_result' && id !== null ? [id] : []
  })
}
