/** Shapes of the stream-json records of OpenClaude 0.29.1. Builders without effect; session_id and uuid are added by the sink. */

import { randomUUID } from 'node:crypto'

export type JsonRecord = Readonly<Record<string, unknown>>

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: JsonRecord
}

export interface ToolOutcome {
  readonly content: string
  readonly isError: boolean
  /** The structured twin in tool_use_result. */
  readonly detail?: unknown
}

const NO_TOKENS = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

export function initRecord(facts: { readonly cwd: string, readonly model: string, readonly permissionMode: string, readonly tools: readonly string[] }): JsonRecord {
  return {
    type: 'system',
    subtype: 'init',
    cwd: facts.cwd,
    tools: facts.tools,
    mcp_servers: [],
    model: facts.model,
    permissionMode: facts.permissionMode,
    slash_commands: ['update-config', 'debug', 'simplify'],
    apiKeySource: 'none',
    claude_code_version: '99.0.0',
    output_style: 'default',
    agents: ['general-purpose', 'statusline-setup', 'code-reviewer'],
    skills: ['update-config', 'debug', 'simplify'],
    plugins: [],
    fast_mode_state: 'off',
  }
}

/** The only record of a resume that was refused in the stream-json format; its session is a new one, and it has no init record before it. */
export function refusedResumeRecord(message: string): JsonRecord {
  return {
    type: 'result',
    subtype: 'error_during_execution',
    duration_ms: 0,
    duration_api_ms: 0,
    is_error: true,
    num_turns: 0,
    stop_reason: null,
    session_id: randomUUID(),
    total_cost_usd: 0,
    usage: { ...NO_TOKENS, server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 }, service_tier: 'standard' },
    modelUsage: {},
    permission_denials: [],
    uuid: randomUUID(),
    errors: [message],
  }
}

export function textBlock(text: string): JsonRecord {
  return { type: 'text', text }
}

export function toolBlock(call: ToolCall): JsonRecord {
  return { type: 'tool_use', id: call.id, name: call.name, input: call.input }
}

export function assistantRecord(messageId: string, model: string, block: JsonRecord, parent: string | null): JsonRecord {
  const message = { ...messageHead(messageId, model), content: [block], usage: NO_TOKENS, context_management: null }
  return { type: 'assistant', message, parent_tool_use_id: parent }
}

export function messageHead(messageId: string, model: string): JsonRecord {
  return { id: messageId, type: 'message', role: 'assistant', content: [], model, stop_reason: null, stop_sequence: null, usage: NO_TOKENS }
}

export function syntheticRecord(messageId: string, text: string, error: string): JsonRecord {
  const message = {
    id: messageId,
    container: null,
    model: '<synthetic>',
    role: 'assistant',
    stop_reason: 'stop_sequence',
    stop_sequence: '',
    type: 'message',
    usage: { ...NO_TOKENS, server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 }, service_tier: null },
    content: [textBlock(text)],
    context_management: null,
  }
  return { type: 'assistant', message, parent_tool_use_id: null, error }
}

export function toolResultRecord(call: ToolCall, outcome: ToolOutcome, parent: string | null): JsonRecord {
  const block = { tool_use_id: call.id, type: 'tool_result', content: outcome.content, is_error: outcome.isError }
  return {
    type: 'user',
    message: { role: 'user', content: [block] },
    parent_tool_use_id: parent,
    timestamp: new Date().toISOString(),
    tool_use_result: outcome.detail ?? outcome.content,
  }
}

export function helperPromptRecord(prompt: string, parent: string): JsonRecord {
  return {
    type: 'user',
    message: { role: 'user', content: [textBlock(prompt)] },
    parent_tool_use_id: parent,
    timestamp: new Date().toISOString(),
  }
}

export function streamEventRecord(event: JsonRecord): JsonRecord {
  return { type: 'stream_event', event, parent_tool_use_id: null }
}

export function apiRetryRecord(facts: {
  readonly attempt: number
  readonly maxRetries: number
  readonly delayMs: number
  readonly status: number | null
  readonly error: string
}): JsonRecord {
  return {
    type: 'system',
    subtype: 'api_retry',
    attempt: facts.attempt,
    max_retries: facts.maxRetries,
    retry_delay_ms: facts.delayMs,
    error_status: facts.status,
    error: facts.error,
  }
}

export function taskStartedRecord(task: {
  readonly id: string
  readonly toolUseId: string
  readonly description: string
  readonly type: 'local_bash' | 'local_agent'
  readonly prompt?: string
}): JsonRecord {
  return {
    type: 'system',
    subtype: 'task_started',
    task_id: task.id,
    tool_use_id: task.toolUseId,
    description: task.description,
    task_type: task.type,
    ...task.prompt === undefined ? {} : { prompt: task.prompt },
  }
}

export function taskNotificationRecord(task: {
  readonly id: string
  readonly toolUseId: string
  readonly outputFile: string
  readonly summary: string
  readonly status: 'completed' | 'failed'
}): JsonRecord {
  return {
    type: 'system',
    subtype: 'task_notification',
    task_id: task.id,
    tool_use_id: task.toolUseId,
    status: task.status,
    output_file: task.outputFile,
    summary: task.summary,
  }
}

export function toolProgressRecord(call: ToolCall, seconds: number, taskId: string): JsonRecord {
  return {
    type: 'tool_progress',
    tool_use_id: `bash-progress-${seconds - 3}`,
    tool_name: call.name,
    parent_tool_use_id: call.id,
    elapsed_time_seconds: seconds,
    task_id: taskId,
  }
}

export function permissionRequestRecord(requestId: string, call: ToolCall): JsonRecord {
  return {
    type: 'control_request',
    request_id: requestId,
    request: { subtype: 'can_use_tool', tool_name: call.name, input: call.input, tool_use_id: call.id },
  }
}
