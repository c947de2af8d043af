/**
 * Counts what a run consumed and words its result record. Turn counters start anew with every turn; cost and modelUsage add up over the process,
 * and over the session where the setup says so. Arithmetic as measured: 100 tokens in per reply, a quarter of its characters out, 5 and 25 USD per million.
 */
import type { JsonRecord } from './records.ts'
import type { ResultOverrides, Setup } from './scenario.ts'
import type { StoredTotals } from './session-store.ts'

export type Ending =
  | { readonly kind: 'answer' }
  | { readonly kind: 'max-turns', readonly limit: number }
  | { readonly kind: 'budget', readonly limit: number }
  | { readonly kind: 'api-error', readonly text: string }
  | { readonly kind: 'interrupted' }
  /** A slash command answered without a model. */
  | { readonly kind: 'local', readonly text: string }

export interface Ledger {
  /** One reply of the model ended. */
  readonly reply: (reply: { readonly text: string, readonly stopReason: 'end_turn' | 'tool_use' }) => void
  /** A reply of a helper: it costs, but is no turn and not in the usage of the result. */
  readonly helperReply: (text: string) => void
  readonly deny: (denial: JsonRecord) => void
  readonly newTurn: () => void
  readonly replies: () => number
  readonly costUsd: () => number
  readonly totals: () => StoredTotals
  readonly result: (ending: Ending, overrides: ResultOverrides) => JsonRecord
}

interface Tokens {
  readonly input: number
  readonly output: number
}

interface Turn {
  startedAt: number
  replies: number
  tokens: Tokens[]
  text: string
  stopReason: 'end_turn' | 'tool_use' | null
  denials: JsonRecord[]
}

const INPUT_TOKENS = 100
const USD_PER_INPUT = 5e-6
const USD_PER_OUTPUT = 25e-6

export function createLedger(facts: { readonly model: string, readonly setup: Setup, readonly before: StoredTotals }): Ledger {
  const fixed = facts.setup.usagePerReply
  const before = facts.setup.cost === 'session' ? facts.before : { costUsd: 0, inputTokens: 0, outputTokens: 0 }
  let totals = before
  let turn = emptyTurn()
  const charge = (text: string): Tokens => {
    const input = fixed?.inputTokens ?? INPUT_TOKENS
    const output = fixed?.outputTokens ?? Math.max(1, Math.ceil(text.length / 4))
    const cost = fixed?.costUsd ?? input * USD_PER_INPUT + output * USD_PER_OUTPUT
    totals = { costUsd: totals.costUsd + cost, inputTokens: totals.inputTokens + input, outputTokens: totals.outputTokens + output }
    return { input, output }
  }
  return {
    reply: ({ text, stopReason }) => {
      turn.replies += 1
      turn.text = text
      turn.stopReason = stopReason
      turn.tokens.push(charge(text))
    },
    helperReply: text => void charge(text),
    deny: denial => {
      turn.denials.push(denial)
    },
    newTurn: () => {
      turn = emptyTurn()
    },
    replies: () => turn.replies,
    costUsd: () => totals.costUsd,
    totals: () => totals,
    result: (ending, overrides) => withOverrides(plainResult(ending, turn, { model: facts.model, totals }), overrides),
  }
}

function emptyTurn(): Turn {
  return { startedAt: performance.now(), replies: 0, tokens: [], text: '', stopReason: null, denials: [] }
}

function plainResult(ending: Ending, turn: Turn, facts: { readonly model: string, readonly totals: StoredTotals }): JsonRecord {
  return {
    type: 'result',
    ...judged(ending, turn),
    duration_ms: Math.round(performance.now() - turn.startedAt),
    duration_api_ms: 10 * turn.replies,
    total_cost_usd: facts.totals.costUsd,
    // The budget is checked before the last reply is added (measured).
    usage: usageOf(ending.kind === 'budget' ? turn.tokens.slice(0, -1) : turn.tokens),
    modelUsage: facts.totals.inputTokens === 0 ? {} : { [facts.model]: modelUsage(facts.totals) },
    permission_denials: turn.denials,
    fast_mode_state: 'off',
  }
}

function judged(ending: Ending, turn: Turn): JsonRecord {
  const interruptedText = turn.stopReason === 'tool_use'
  switch (ending.kind) {
    case 'answer':
      return success(false, turn.text, turn.stopReason, turn.replies)
    case 'local':
      return success(false, ending.text, null, 2)
    case 'api-error':
      return success(true, ending.text, 'stop_sequence', turn.replies + 1)
    case 'max-turns':
      return failure('error_max_turns', 'tool_use', turn.replies + 1, `Reached maximum number of turns (${ending.limit})`)
    case 'budget':
      return failure('error_max_budget_usd', turn.stopReason, turn.replies, `Reached maximum budget ($${ending.limit})`)
    case 'interrupted':
      return interruptedText
        ? success(false, '', 'tool_use', turn.replies + 1)
        : failure('error_during_execution', null, turn.replies + 1, '[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null')
    default:
      return ending satisfies never
  }
}

function success(isError: boolean, text: string, stopReason: string | null, turns: number): JsonRecord {
  return { subtype: 'success', is_error: isError, num_turns: turns, result: text, stop_reason: stopReason }
}

function failure(subtype: string, stopReason: string | null, turns: number, error: string): JsonRecord {
  return { subtype, is_error: true, num_turns: turns, stop_reason: stopReason, errors: [error] }
}

function usageOf(tokens: readonly Tokens[]): JsonRecord {
  return {
    input_tokens: tokens.reduce((sum, each) => sum + each.input, 0),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: tokens.reduce((sum, each) => sum + each.output, 0),
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: 'standard',
    cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
    inference_geo: '',
    iterations: [],
    speed: 'standard',
  }
}

function modelUsage(totals: StoredTotals): JsonRecord {
  return {
    inputTokens: totals.inputTokens,
    outputTokens: totals.outputTokens,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    webSearchRequests: 0,
    costUSD: totals.costUsd,
    contextWindow: 128_000,
    maxOutputTokens: 32_000,
  }
}

function withOverrides(record: JsonRecord, given: ResultOverrides): JsonRecord {
  const changed: Record<string, unknown> = { ...record }
  const set = (key: string, value: unknown): void => {
    if (value === undefined) return
    if (value === null && key === 'result') delete changed[key]
    else changed[key] = value
  }
  set('subtype', given.subtype)
  set('is_error', given.isError ?? (given.subtype === undefined || given.subtype === 'success' ? undefined : true))
  set('result', given.text)
  set('stop_reason', given.stopReason)
  set('errors', given.errors)
  set('num_turns', given.numTurns)
  set('total_cost_usd', given.costUsd)
  if (given.errors !== undefined && given.text === undefined) delete changed['result']
  return { ...changed, ...given.fields }
}
