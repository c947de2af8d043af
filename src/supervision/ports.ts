/**
 * The contracts of judging and advising. The judge turns a tree into evidence and a verdict; the advisor turns evidence into advice.
 * Neither writes run state.
 */
import type { AttemptOutcome, SpawnFailure } from '../core/attempt-types.ts'
import type { Advice, Check, Evidence, Verdict } from '../core/evidence-types.ts'
import type { TaskSpec } from '../core/graph-types.ts'
import type { TreeSnapshot, Workspace } from '../workspace/workspace.ts'

/**
 * Runs one plain child to its end. The shape is that of the executor's `runPlain`; judge and advisor take it as a dependency, since
 * sibling folders meet only in the engine.
 */
export type RunPlain = (request: PlainChildRequest) => Promise<PlainChildResult>

export interface PlainChildRequest {
  readonly command: { readonly argv: readonly string[] } | { readonly commandLine: string }
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Milliseconds; 0 = no limit. */
  readonly timeoutMs: number
  readonly logFile: string | null
  readonly maxBytes: number
  readonly tailBytes: number
  readonly marker: { readonly name: string, readonly value: string }
  readonly workspaceRoot: string
  readonly killGraceMs?: number
  readonly redact?: (text: string) => string
  readonly input?: string
  readonly signal?: AbortSignal
}

export interface PlainChildResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly spawnError: SpawnFailure | null
  readonly durationMs: number
  readonly tail: string
  readonly bytes: number
  readonly logError: string | null
}

export interface JudgeRequest {
  readonly task: TaskSpec
  readonly attempt: number
  readonly workspace: Workspace
  /** The tree before the attempt and as it is now. */
  readonly before: TreeSnapshot
  readonly after: TreeSnapshot
  /** Fingerprint of the tree as it is when called: tells whether it moved while it was judged. */
  readonly fingerprint: () => Promise<string>
  /** Fingerprint of the tree before the first attempt of the task: a retry goes on in the same tree, and what counts as change is all its attempts did. */
  readonly taskBefore: string
  readonly outcome: AttemptOutcome
  /** The task's executor is an agent: an empty diff is `unchanged`, a report is expected. */
  readonly agent: boolean
  /** Absolute folder for check logs, and the run directory that evidence paths are relative to. */
  readonly logDir: string
  readonly runDir: string
  readonly signal: AbortSignal
  /** Called once per check, in order, as soon as its evidence exists. */
  readonly onEvidence: (evidence: Evidence) => Promise<void>
}

export interface Judge {
  /** Checks of a task, resolved; what `plan` prints. */
  readonly checksFor: (task: TaskSpec) => readonly Check[]
  readonly judge: (request: JudgeRequest) => Promise<Verdict>
}

/** The model behind the advisor: one question, one text. Own timeout and size cap inside. Rejects when it can't answer. */
export interface AdvisorModel {
  readonly name: string
  readonly ask: (prompt: string, options: { readonly signal: AbortSignal }) => Promise<string>
}

export interface AdviceRequest {
  readonly task: TaskSpec
  readonly attempt: number
  readonly round: number
  readonly attemptsLeft: number
  readonly outcome: AttemptOutcome
  readonly verdict: Verdict
  readonly evidence: readonly Evidence[]
  /** Unified diff of the attempt, capped; empty when unknown. */
  readonly diff: string
  readonly workspace: Workspace
  /** Absolute folder for `<round>.ask.json` and `<round>.answer.json`, and the run directory their names are relative to. */
  readonly adviceDir: string
  readonly runDir: string
  readonly signal: AbortSignal
}

export interface Advisor {
  /** Never rejects: asks once more after an unreadable answer, then says so. */
  readonly advise: (request: AdviceRequest) => Promise<Advice>
}
