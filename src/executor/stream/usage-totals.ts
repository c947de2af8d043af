/**
 * Usage and cost of one child process, whatever its totals count.
 * Measured: `modelUsage` and cost grow over the results of a process, `usage` is per result, a resumed process starts from zero (OC 3).
 * A version that counts per result, or that carries the totals of the session over a resume, is recognised by comparing both with `usage`.
 */
import type { LaunchEnd, Usage } from '../../core/attempt-types.ts'
import type { ResultRecord } from './result-record.ts'

export interface Totals {
  readonly usage: Usage
  /** US dollars. */
  readonly costUsd: number
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 }
const NOTHING: Totals = { usage: NO_USAGE, costUsd: 0 }

export interface UsageTotals {
  /** Totals of earlier launches of the same session, which a resumed process may count again. */
  readonly earlier: Totals
  /** What the results said so far. */
  reported: Totals
  /** The part of `reported` that belongs to earlier launches. */
  inherited: Totals
  results: number
  /** Tokens of replies that no result has counted yet: all there is for a child that dies before its result. */
  uncounted: Usage
}

/** @param earlier Sum over the earlier launches of the session (`sumLaunches`); absent for a fresh one. */
export function newUsageTotals(earlier: Totals = NOTHING): UsageTotals {
  return { earlier, reported: NOTHING, inherited: NOTHING, results: 0, uncounted: NO_USAGE }
}

/** Changes `totals` in place. */
export function addReply(totals: UsageTotals, usage: Usage): void {
  totals.uncounted = plus(totals.uncounted, usage)
}

/** Changes `totals` in place. */
export function addResult(totals: UsageTotals, record: ResultRecord): void {
  const said: Totals = { usage: record.modelUsage ?? record.usage, costUsd: record.costUsd }
  if (totals.results === 0) {
    totals.inherited = inheritedBy(said, record.usage, totals.earlier)
    totals.reported = said
  } else {
    totals.reported = {
      usage: record.modelUsage !== null && isRunningTotal(totals.reported, record) ? said.usage : plus(totals.reported.usage, said.usage),
      costUsd: isRunningCost(totals.reported, record) ? said.costUsd : totals.reported.costUsd + said.costUsd,
    }
  }
  totals.results += 1
  totals.uncounted = NO_USAGE
}

/** Usage and cost of this process alone. */
export function processTotals(totals: UsageTotals): Totals {
  const { reported, inherited } = totals
  return {
    usage: plus(minus(reported.usage, inherited.usage), totals.uncounted),
    costUsd: Math.max(0, reported.costUsd - inherited.costUsd),
  }
}

/** Sum over launches; each end holds its own process alone. */
export function sumLaunches(ends: readonly Pick<LaunchEnd, 'usage' | 'costUsd'>[]): Totals {
  return ends.reduce<Totals>((sum, end) => ({ usage: plus(sum.usage, end.usage), costUsd: sum.costUsd + end.costUsd }), NOTHING)
}

/**
 * The first total of a process minus its own `usage` is what helpers used, or what it inherited. It is called inherited when
 * it holds at least the earlier total in every field.
 */
function inheritedBy(said: Totals, own: Usage, earlier: Totals): Totals {
  const excess = minus(said.usage, own)
  const before = tokens(earlier.usage)
  const holds = FIELDS.every(field => excess[field] >= earlier.usage[field])
  return before > 0 && holds ? { usage: earlier.usage, costUsd: Math.min(earlier.costUsd, said.costUsd) } : NOTHING
}

/** Nearer to "the total before plus this result" than to "this result alone". */
function isRunningTotal(before: Totals, record: ResultRecord): boolean {
  const said = tokens(record.modelUsage ?? record.usage)
  const own = tokens(record.usage)
  return Math.abs(said - tokens(before.usage) - own) <= Math.abs(said - own)
}

function isRunningCost(before: Totals, record: ResultRecord): boolean {
  return record.modelUsage === null ? record.costUsd >= before.costUsd : isRunningTotal(before, record)
}

const FIELDS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheCreationTokens'] as const

function tokens(usage: Usage): number {
  return FIELDS.reduce((sum, field) => sum + usage[field], 0)
}

function combine(a: Usage, b: Usage, operation: (x: number, y: number) => number): Usage {
  return {
    inputTokens: operation(a.inputTokens, b.inputTokens),
    outputTokens: operation(a.outputTokens, b.outputTokens),
    cacheReadTokens: operation(a.cacheReadTokens, b.cacheReadTokens),
    cacheCreationTokens: operation(a.cacheCreationTokens, b.cacheCreationTokens),
  }
}

function plus(a: Usage, b: Usage): Usage {
  return combine(a, b, (x, y) => x + y)
}

function minus(a: Usage, b: Usage): Usage {
  return combine(a, b, (x, y) => Math.max(0, x - y))
}
