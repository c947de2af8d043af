/** One decoded line of a child's stream-json output. Types only; `liveness.ts` decodes, `../watchdog/watchdog.ts` and `envelope.ts` read. */
import type { ReportedResult, Usage } from '../../core/attempt-types.ts'

/** A line as framed from bytes. `oversize` lines carry only their head. */
export interface FramedLine {
  readonly text: string
  readonly oversize: boolean
  /** Whole length of the line in bytes. */
  readonly bytes: number
}

export type ChildRecord =
  | { readonly kind: 'init', readonly model: string | null, readonly sessionId: string | null }
  /** `parent` is the id of the Agent/Task tool call the record belongs to; null = the main conversation. */
  | {
    readonly kind: 'assistant'
    readonly toolUses: readonly { readonly id: string, readonly name: string }[]
    readonly parent: string | null
  }
  | { readonly kind: 'user', readonly toolResults: readonly string[], readonly parent: string | null }
  /** `usage`: tokens of one model reply, on the event that ends it; null on every other event. */
  | { readonly kind: 'stream-event', readonly parent: string | null, readonly usage: Usage | null }
  | {
    readonly kind: 'heartbeat'
    /** `text`: the stderr line of json format. It proves liveness only, its quiet value never resets (OC 0.1). */
    readonly source: 'record' | 'text'
    readonly elapsedMs: number
    readonly sinceLastActivityMs: number
    readonly state: string
    readonly phase: string
    readonly pendingPermissions: number
    readonly backgroundTasks: number
  }
  | {
    readonly kind: 'api-retry'
    readonly attempt: number
    readonly delayMs: number
    readonly status: number | null
    readonly error: string
  }
  /** The real call is `parent` for OpenClaude (its own id is synthetic) and `toolUseId` for Claude Code. */
  | { readonly kind: 'tool-progress', readonly toolUseId: string, readonly parent: string | null }
  | {
    readonly kind: 'task'
    readonly event: 'started' | 'progress' | 'notification'
    readonly taskId: string | null
    /** The tool call that started the task. */
    readonly toolUseId: string | null
  }
  | {
    readonly kind: 'result'
    readonly result: ReportedResult
    /** Of this result alone; main conversation only. */
    readonly usage: Usage
    /** Sum over `modelUsage`, helpers included; grows over the results of a process. Null when absent or empty. */
    readonly modelUsage: Usage | null
    /** `total_cost_usd`; grows over the results of a process. */
    readonly costUsd: number
    readonly model: string | null
    readonly sessionId: string | null
  }
  /** Only the head of the line was decoded: its type and the tool ids seen in it. */
  | { readonly kind: 'oversize', readonly type: string | null, readonly toolIds: readonly string[] }
  /** Well-formed, of a type this version does not know: progress, reported once as drift. */
  | { readonly kind: 'other', readonly type: string }
  /** No record at all: never progress. */
  | { readonly kind: 'noise' }
