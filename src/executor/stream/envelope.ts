/**
 * Fold of a child's records into the facts of its launch: the last result, what was left open, usage, model, drift.
 * Does not judge them (`launch-verdict.ts`) and knows no time.
 */
import type { LaunchEnd, ReportedResult } from '../../core/attempt-types.ts'
import { assertNever } from '../../errors.ts'
import type { ChildRecord } from './child-record.ts'
import { applyToWork, backgroundTasks, mainTools, newOpenWork, type OpenWork } from './open-work.ts'
import { opensTurn } from './turns.ts'
import { addReply, addResult, newUsageTotals, processTotals, type Totals, type UsageTotals } from './usage-totals.ts'

export interface Envelope {
  readonly work: OpenWork
  readonly totals: UsageTotals
  records: number
  /** The result of the turn that ended last; null while a turn is open, also after an earlier result. */
  result: ReportedResult | null
  resultOversize: boolean
  model: string | null
  sessionId: string | null
  lastPhase: string | null
  /** Record types this version does not know, each once, in order of appearance. */
  readonly drift: string[]
}

export type EnvelopeFacts = Pick<
  LaunchEnd,
  'result' | 'resultOversize' | 'openTools' | 'backgroundTasks' | 'records' | 'lastTool' | 'lastPhase' | 'usage' | 'costUsd' | 'model'
> & { readonly sessionId: string | null, readonly drift: readonly string[] }

/** @param earlier Sum over earlier launches of the same session: a resumed child may count them again. */
export function newEnvelope(earlier?: Totals): Envelope {
  return {
    work: newOpenWork(), totals: newUsageTotals(earlier),
    records: 0, result: null, resultOversize: false, model: null, sessionId: null, lastPhase: null, drift: [],
  }
}

/** Changes `envelope` in place. Takes records of stdout, and heartbeats of stderr, in the order they were read. */
export function addRecord(envelope: Envelope, record: ChildRecord): void {
  if (record.kind === 'noise') return
  applyToWork(envelope.work, record)
  if (record.kind !== 'heartbeat' || record.source === 'record') envelope.records += 1
  // A woken child goes on: what it said before is no longer its last word.
  if (opensTurn(record)) {
    envelope.result = null
    envelope.resultOversize = false
  }
  switch (record.kind) {
    case 'init':
      envelope.model = record.model ?? envelope.model
      envelope.sessionId = record.sessionId ?? envelope.sessionId
      return
    case 'heartbeat':
      if (record.phase !== '') envelope.lastPhase = record.phase
      return
    case 'stream-event':
      if (record.usage !== null) addReply(envelope.totals, record.usage)
      return
    case 'result':
      envelope.result = record.result
      envelope.resultOversize = false
      envelope.model = record.model ?? envelope.model
      envelope.sessionId = record.sessionId ?? envelope.sessionId
      addResult(envelope.totals, record)
      return
    case 'oversize':
      if (record.type !== 'result') return
      envelope.result = null
      envelope.resultOversize = true
      return
    case 'other':
      if (!envelope.drift.includes(record.type)) envelope.drift.push(record.type)
      return
    case 'assistant':
    case 'user':
    case 'api-retry':
    case 'tool-progress':
    case 'task':
      return
    default:
      assertNever(record)
  }
}

/** The facts of the launch as far as its stdout tells them. */
export function envelopeFacts(envelope: Envelope): EnvelopeFacts {
  const { result, resultOversize, records, lastPhase, model, sessionId, work } = envelope
  return {
    result, resultOversize, records, lastPhase, model, sessionId,
    ...processTotals(envelope.totals),
    openTools: mainTools(work),
    backgroundTasks: backgroundTasks(work),
    lastTool: work.lastTool,
    drift: [...envelope.drift],
  }
}
