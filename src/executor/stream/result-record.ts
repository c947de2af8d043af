/**
 * Decodes the result record: outcome, usage, cost, denials.
 * Every text is bounded here, so that nothing behind has to ask how long it is.
 */
import type { Usage } from '../../core/attempt-types.ts'
import type { ChildRecord } from './child-record.ts'
import { amountOf, isObject, listOf, objectOf, textOf, type JsonObject } from './json-value.ts'

export type ResultRecord = Extract<ChildRecord, { kind: 'result' }>

export const MAX_RESULT_TEXT_BYTES = 65_536
const HEAD_BYTES = 16_384
const MAX_ERRORS = 20
const MAX_ERROR_CHARS = 2_000
const MAX_DENIALS = 200

/** @param value A record whose `type` is `result`. */
export function decodeResult(value: JsonObject): ResultRecord {
  const modelUsage = objectOf(value['modelUsage'])
  return {
    kind: 'result',
    result: {
      subtype: textOf(value['subtype']) ?? '',
      isError: value['is_error'] !== false,
      stopReason: textOf(value['stop_reason']),
      text: boundText(typeof value['result'] === 'string' ? value['result'] : ''),
      errors: listOf(value['errors']).slice(0, MAX_ERRORS).map(error => (textOf(error) ?? '').slice(0, MAX_ERROR_CHARS)),
      turns: amountOf(value['num_turns']),
      denials: listOf(value['permission_denials']).slice(0, MAX_DENIALS).map(objectOf).map(denial => ({
        tool: textOf(denial['tool_name']) ?? '',
        toolUseId: textOf(denial['tool_use_id']) ?? '',
      })),
    },
    usage: decodeUsage(value['usage']),
    modelUsage: sumModelUsage(modelUsage),
    costUsd: amountOf(value['total_cost_usd']),
    model: mainModel(modelUsage),
    sessionId: textOf(value['session_id']),
  }
}

/** Usage of the API's own shape (`input_tokens`, …). */
export function decodeUsage(value: unknown): Usage {
  const usage = objectOf(value)
  return {
    inputTokens: amountOf(usage['input_tokens']),
    outputTokens: amountOf(usage['output_tokens']),
    cacheReadTokens: amountOf(usage['cache_read_input_tokens']),
    cacheCreationTokens: amountOf(usage['cache_creation_input_tokens']),
  }
}

function sumModelUsage(models: JsonObject): Usage | null {
  const entries = Object.values(models).filter(isObject)
  if (entries.length === 0) return null
  const sum = (field: string): number => entries.reduce((total, entry) => total + amountOf(entry[field]), 0)
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cacheReadTokens: sum('cacheReadInputTokens'),
    cacheCreationTokens: sum('cacheCreationInputTokens'),
  }
}

/** The model with the most output; a helper may have used another one. */
function mainModel(models: JsonObject): string | null {
  const ranked = Object.entries(models)
    .map(([name, entry]) => ({ name, output: amountOf(objectOf(entry)['outputTokens']) }))
    .toSorted((a, b) => b.output - a.output)
  return ranked[0]?.name ?? null
}

/** Cuts the middle, never the end: the report block stands last. */
function boundText(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= MAX_RESULT_TEXT_BYTES) return text
  const cut = `\n[${String(bytes.length)} bytes, middle cut]\n`
  const tailBytes = MAX_RESULT_TEXT_BYTES - HEAD_BYTES - cut.length
  return `${decodeSlice(bytes.subarray(0, HEAD_BYTES))}${cut}${decodeSlice(bytes.subarray(bytes.length - tailBytes))}`
}

/** A slice may begin and end inside a character; the broken ends are dropped. */
function decodeSlice(bytes: Uint8Array): string {
  let start = 0
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xC0) === 0x80) start += 1
  return new TextDecoder().decode(bytes.subarray(start), { stream: true })
}
