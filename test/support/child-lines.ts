/** Lines as OpenClaude writes them, cut to the fields that matter. Times are not part of a line. */

const SESSION = '00000000-0000-4000-8000-000000000001'

type Fields = Readonly<Record<string, unknown>>

function line(type: string, fields: Fields): string {
  return JSON.stringify({ type, ...fields, session_id: SESSION })
}

function system(subtype: string, fields: Fields = {}): string {
  return line('system', { subtype, ...fields })
}

export const init = (model = 'mock'): string => system('init', { cwd: '/project-dir', model })

export function beat(sinceLastMs: number, fields: { readonly state?: string, readonly phase?: string, readonly pending?: number, readonly background?: number } = {}): string {
  return system('heartbeat', {
    elapsed_ms: sinceLastMs + 1_000,
    since_last_activity_ms: sinceLastMs,
    state: fields.state ?? 'running',
    phase: fields.phase ?? 'in_turn',
    heartbeat_index: 1,
    pending_permission_requests: fields.pending ?? 0,
    background_tasks: (fields.background ?? 0) === 0 ? {} : { local_bash: fields.background },
  })
}

export function textBeat(seconds: number): string {
  return `openclaude: heartbeat elapsed=${String(seconds)}.0s quiet=${String(seconds)}.0s state=running phase=in_turn session=${SESSION}`
}

export function toolUse(id: string, name: string, parent: string | null = null): string {
  return line('assistant', { message: { id: `msg_${id}`, role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] }, parent_tool_use_id: parent })
}

export function said(text: string, parent: string | null = null): string {
  return line('assistant', { message: { id: 'msg_text', role: 'assistant', content: [{ type: 'text', text }] }, parent_tool_use_id: parent })
}

export function toolResult(id: string, parent: string | null = null): string {
  return line('user', { message: { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content: 'done' }] }, parent_tool_use_id: parent })
}

export function token(parent: string | null = null): string {
  return line('stream_event', { event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a ' } }, parent_tool_use_id: parent })
}

export const ping = (): string => line('stream_event', { event: { type: 'ping' }, parent_tool_use_id: null })

export function retry(delayMs: number): string {
  return system('api_retry', { attempt: 1, max_retries: 3, retry_delay_ms: delayMs, error_status: 500, error: 'server_error' })
}

/** As OpenClaude writes it: its own id is synthetic, the call is the parent. */
export function toolProgress(call: string): string {
  return line('tool_progress', { tool_use_id: 'bash-progress-0', tool_name: 'Bash', parent_tool_use_id: call, elapsed_time_seconds: 3 })
}

/** As Claude Code writes it. */
export function toolProgressOfClaude(call: string): string {
  return line('tool_progress', { tool_use_id: call, tool_name: 'Bash', parent_tool_use_id: null, elapsed_time_seconds: 3 })
}

export const taskStarted = (task: string, call: string): string => system('task_started', { task_id: task, tool_use_id: call, task_type: 'local_bash' })

export const taskProgress = (task: string, call: string): string => system('task_progress', { task_id: task, tool_use_id: call })

export const taskEnded = (task: string, call: string): string => system('task_notification', { task_id: task, tool_use_id: call, status: 'completed' })

export const unknown = (subtype: string): string => system(subtype)

export interface ResultFields {
  readonly subtype?: string
  readonly isError?: boolean
  readonly text?: string
  readonly stopReason?: string | null
  readonly turns?: number
  readonly cost?: number
  readonly own?: number
  readonly total?: number | null
}

/** `own` and `total` are input tokens, of this result and of `modelUsage`. */
export function result(fields: ResultFields = {}): string {
  const { own = 100, total = own } = fields
  return line('result', {
    subtype: fields.subtype ?? 'success',
    is_error: fields.isError ?? false,
    num_turns: fields.turns ?? 1,
    result: fields.text ?? 'Done.',
    stop_reason: fields.stopReason === undefined ? 'end_turn' : fields.stopReason,
    total_cost_usd: fields.cost ?? 0.001,
    usage: { input_tokens: own, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    modelUsage: total === null ? {} : { mock: { inputTokens: total, outputTokens: 0, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 } },
    permission_denials: [],
  })
}
