/**
 * An executor without processes, for tests and benchmarks of the engine as a whole: an attempt takes one turn of the event loop, and keeps a ledger
 * of the work it did. Like `command`, it is not durable: work that an engine left unfinished is done again by the next one.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { AttemptOutcome, LaunchEnd } from '../../src/core/attempt-types.ts'
import type { AttemptEndRequest, AttemptPorts, AttemptRequest, Executor } from '../../src/executor/executor.ts'

export const CHEAP = 'cheap'

const USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 }
const END: LaunchEnd = {
  exit: { known: true, code: 0, signal: null }, endedBy: null, result: null, resultOversize: false, openTools: [], backgroundTasks: 0, records: 0,
  lastTool: null, lastPhase: null, usage: USAGE, costUsd: 0, model: null, stderrTail: '', durationMs: 0,
}

/** @param ledger file that gets one line `<task>/<attempt>` per piece of work; null = none is kept. */
export function cheapExecutor(ledger: string | null): Executor {
  return {
    name: CHEAP,
    agent: false,
    preflight: () => Promise.resolve({ executable: CHEAP, version: '', notes: [] }),
    start: (request, ports) => {
      const asked: { end: AttemptEndRequest | null } = { end: null }
      return { outcome: attempt(request, ports, { ledger, asked }), end: (request) => { asked.end ??= request } }
    },
  }
}

interface Book {
  readonly ledger: string | null
  readonly asked: { readonly end: AttemptEndRequest | null }
}

async function attempt(request: AttemptRequest, ports: AttemptPorts, { ledger, asked }: Book): Promise<AttemptOutcome> {
  const last = request.launches.launches.at(-1)
  if (last !== undefined && last.status !== 'swept') {
    if (last.end === null) await ports.record({ kind: 'launch-ended', launch: last.launch, end: { ...END, exit: { known: false } }, tree: null })
    await ports.record({ kind: 'launch-swept', launch: last.launch, result: 'clean', ended: 0 })
  }
  if (last?.end?.exit.known === true) return outcome('succeeded', last.launch)
  if (asked.end !== null) return outcome(asked.end === 'abort' ? 'aborted' : 'stopped', last?.launch ?? 0)
  const launch = (last?.launch ?? 0) + 1
  const mine = { sessionId: '', marker: '', dir: `t${request.taskIndex}-${request.task}/a${request.attempt}/l${launch}` }
  await ports.record({ kind: 'launch-intended', launch, mode: 'fresh', reason: last === undefined ? 'first' : 'engine-restart', ...mine })
  await ports.record({ kind: 'launch-live', launch, keeper: null, child: null })
  await new Promise(resolve => setImmediate(resolve))
  if (ledger !== null) appendFileSync(ledger, `${request.task}/${request.attempt}\n`)
  await ports.record({ kind: 'launch-ended', launch, end: END, tree: null })
  await ports.record({ kind: 'launch-swept', launch, result: 'clean', ended: 0 })
  return outcome('succeeded', launch)
}

function outcome(kind: AttemptOutcome['kind'], launches: number): AttemptOutcome {
  return {
    kind, message: kind, launches, sessionId: null, exit: END.exit, clock: null, lastPhase: null, lastTool: null, spawnFailure: null, result: null,
    report: { kind: 'absent' }, usage: USAGE, costUsd: 0, model: null, stderrTail: '', durationMs: 0,
  }
}

/** Lines of the ledger, in order. */
export function ledgerOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(line => line !== '') : []
}
