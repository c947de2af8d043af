/** What one launch shares between its parts: where it writes, what it counts, and what a heartbeat would say. State only, no behaviour of steps. */
import type { Flags } from './command-line.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Ledger } from './ledger.ts'
import type { Setup } from './scenario.ts'
import type { SimEnv } from './scenario-source.ts'
import type { SessionFile } from './session-store.ts'
import type { Shell } from './shell.ts'
import type { Sink } from './sink.ts'

export interface BackgroundTask {
  readonly id: string
  readonly toolUseId: string
  readonly description: string
  readonly outputFile: string
  readonly shell: Shell
}

export interface Stage {
  readonly flags: Flags
  readonly env: SimEnv
  readonly cwd: string
  readonly pid: number
  readonly sessionId: string
  readonly model: string
  readonly setup: Setup
  readonly sink: Sink
  readonly session: SessionFile
  readonly heartbeat: Heartbeat
  readonly ledger: Ledger
  readonly interrupt: AbortController
  readonly live: LiveState
  /** Folder of tool output, as OpenClaude keeps it under the temporary directory. */
  readonly taskDir: string
  /** Told the process id of a tool that began; 0 for a tool without a process. */
  toolStarted: (pid: number) => void
}

/** Changes while the play goes on. */
export interface LiveState {
  initSent: boolean
  state: 'starting' | 'running' | 'requires_action' | 'idle' | 'shutting_down'
  phase: string
  pendingPermissions: number
  openShell: Shell | null
  background: BackgroundTask[]
  /** Written for the current turn. */
  resultSent: boolean
  noResult: boolean
  exitCode: number
  ignored: Set<string>
}

export function newLiveState(ignored: readonly string[]): LiveState {
  return {
    initSent: false,
    state: 'starting',
    phase: 'startup',
    pendingPermissions: 0,
    openShell: null,
    background: [],
    resultSent: false,
    noResult: false,
    exitCode: 0,
    ignored: new Set(ignored),
  }
}
