/** Exit codes of the command (SEMANTICS 2): 0 complete; 1 incomplete or halted; 2 input; 3 environment; 128 + signal when a signal ended it. */
import type { EngineEnd } from '../engine/drive/engine.ts'
import { OpenClaudeError } from '../errors.ts'
import { exitCodeOf } from '../report/build-report.ts'

export const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
export type EndingSignal = keyof typeof SIGNAL_EXIT

/** The code of a run; a signal that stopped it wins over its result only while the run is unfinished. */
export function exitCodeOfEnd(end: EngineEnd, signal: EndingSignal | null): number {
  if (end.kind === 'finished') return exitCodeOf(end.result)
  return signal === null ? 130 : SIGNAL_EXIT[signal]
}

export function exitCodeOfError(error: unknown): number {
  return error instanceof OpenClaudeError ? error.exitCode : 3
}
