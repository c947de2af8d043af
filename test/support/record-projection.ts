/**
 * What a reader of OpenClaude's output depends on, taken out of a recorded or a simulated stream so that the two can be compared as whole values.
 * Drops ids, times, delays and catalogues; tool ids become #1, #2 … in order of appearance; runs of equal heartbeats become one.
 */

type Json = Readonly<Record<string, unknown>>

export interface Projection {
  readonly records: readonly Json[]
  /** Distinct session ids seen. */
  readonly sessions: number
  readonly firstSession: string | null
}

export function projectStdout(stdout: string): Projection | string {
  const lines = stdout.split('\n').filter(line => line !== '')
  if (lines.some(line => !line.startsWith('{') && !line.startsWith('['))) return stdout
  const records = lines.flatMap(line => JSON.parse(line) as Json | readonly Json[])
  const ids = new Map<string, string>()
  const alias = (id: unknown): string | null => {
    if (typeof id !== 'string') return null
    const known = ids.get(id) ?? `#${ids.size + 1}`
    ids.set(id, known)
    return known
  }
  const sessions = [...new Set(records.map(record => record['session_id']).filter(id => typeof id === 'string'))]
  return { records: withoutRepeatedBeats(records.map(record => projectRecord(record, alias))), sessions: sessions.length, firstSession: sessions[0] ?? null }
}

type Alias = (id: unknown) => string | null

function projectRecord(record: Json, alias: Alias): Json {
  const keys = Object.keys(record).toSorted().join(' ')
  const type = record['type']
  if (type === 'system') return { keys, ...projectSystem(record, alias) }
  if (type === 'assistant' || type === 'user') return { keys, ...projectMessage(record, alias) }
  if (type === 'result') return { keys, ...projectResult(record, alias) }
  if (type === 'stream_event') return { keys, type, ...projectEvent(record['event'] as Json, alias) }
  if (type === 'tool_progress') return { keys, ...pick(record, ['type', 'tool_name', 'elapsed_time_seconds']), parent: alias(record['parent_tool_use_id']) }
  if (type === 'control_request') return { keys, type, ...pick(record['request'] as Json, ['subtype', 'tool_name']), input: Object.keys((record['request'] as Json)['input'] as Json) }
  return { keys, type }
}

function projectSystem(record: Json, alias: Alias): Json {
  const tool = 'tool_use_id' in record ? { tool: alias(record['tool_use_id']) } : {}
  const fields = ['type', 'subtype', 'model', 'permissionMode', 'attempt', 'max_retries', 'error_status', 'error', 'state', 'phase',
    'pending_permission_requests', 'background_tasks', 'task_type', 'description', 'prompt', 'status', 'summary']
  return { ...pick(record, fields), ...tool }
}

function projectMessage(record: Json, alias: Alias): Json {
  const message = record['message'] as Json
  const content = (message['content'] as readonly Json[]).map(block => projectBlock(block, alias))
  return { ...pick(record, ['type', 'error']), ...pick(message, ['role', 'model']), content, parent: alias(record['parent_tool_use_id']) }
}

function projectBlock(block: Json, alias: Alias): Json {
  if (block['type'] === 'tool_use') return { ...pick(block, ['type', 'name']), input: Object.keys(block['input'] as Json).toSorted(), id: alias(block['id']) }
  if (block['type'] === 'tool_result') return { type: 'tool_result', isError: block['is_error'] === true, id: alias(block['tool_use_id']) }
  return pick(block, ['type', 'text'])
}

function projectEvent(event: Json, alias: Alias): Json {
  const delta = event['delta'] as Json | undefined
  const block = event['content_block'] as Json | undefined
  return {
    ...pick(event, ['index']),
    event: event['type'],
    ...delta === undefined ? {} : { delta: delta['type'] ?? delta['stop_reason'] },
    ...block === undefined ? {} : { block: block['type'], id: alias(block['id']) },
  }
}

function projectResult(record: Json, alias: Alias): Json {
  const usage = record['usage'] as Json
  const denials = record['permission_denials'] as readonly Json[]
  const costCents = Math.round(Number(record['total_cost_usd']) * 1e9)
  return {
    ...pick(record, ['type', 'subtype', 'is_error', 'num_turns', 'result', 'stop_reason', 'errors', 'structured_output']),
    nanoUsd: costCents,
    usage: pick(usage, ['input_tokens', 'output_tokens', 'cache_read_input_tokens']),
    models: Object.keys(record['modelUsage'] as Json),
    denials: denials.map(denial => ({ tool: denial['tool_name'], id: alias(denial['tool_use_id']) })),
  }
}

function pick(from: Json, keys: readonly string[]): Json {
  return Object.fromEntries(keys.filter(key => key in from).map(key => [key, from[key]]))
}

function withoutRepeatedBeats(records: readonly Json[]): Json[] {
  return records.filter((record, index) => record['subtype'] !== 'heartbeat' || JSON.stringify(record) !== JSON.stringify(records[index - 1]))
}

/** Heartbeat lines become one per state and phase; ids and stack lines go. */
export function projectStderr(stderr: string): string[] {
  const lines = stderr.split('\n').filter(line => line !== '' && !/^\s+at |^file:\/\/|^Node\.js v|^\(bundle/u.test(line))
  const plain = lines.map(line => line
    .replace(/elapsed=[\d.]+s quiet=[\d.]+s/u, 'elapsed=T quiet=T')
    .replaceAll(/(?:session=|e\.g\., )[0-9a-f-]{36}/gu, 'ID'))
  return plain.filter((line, index) => line !== plain[index - 1])
}
