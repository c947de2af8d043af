/** A run that this process drives: the engine, its history, and the end of it (reports written, sessions removed, lock released). */
import type { RunHistory } from '../../report/history.ts'
import type { Report } from '../../report/report-schema.ts'
import type { Engine, EngineEnd } from '../drive/engine.ts'

export interface FinishedRun {
  readonly end: EngineEnd
  readonly history: RunHistory
  readonly report: Report
  /** Null when the run was not kept (`persistence: false`). */
  readonly runDir: string | null
}

export interface ActiveRun {
  readonly run: string
  readonly runDir: string
  readonly workdir: string
  readonly warnings: readonly string[]
  /** Fold of the published entries; kept up to date by the run itself. */
  readonly history: RunHistory
  readonly engine: Engine
  /** Starts the engine. Observers hear nothing before. */
  readonly start: () => void
  /** Settles when everything is written and the lock is free; rejects when the journal or the engine failed. */
  readonly finished: Promise<FinishedRun>
}
