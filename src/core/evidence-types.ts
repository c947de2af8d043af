/** The vocabulary of judging: checks, evidence, findings, verdicts, decisions. Types only. */
import type { TaskSpec } from './graph-types.ts'

/** What one check proved. The grades `flaky`, `red-before` and `tampered` are reserved for a judge with a baseline. */
export const GRADES = ['passed', 'failed', 'skipped', 'timed-out', 'unrunnable', 'vacuous', 'flaky', 'red-before', 'tampered'] as const
export type Grade = (typeof GRADES)[number]

/** A check as resolved when the run started. */
export interface Check {
  readonly name: string
  readonly role: 'lint' | 'typecheck' | 'build' | 'test' | 'extra'
  /** argv that runs it; null = there is nothing to run, and `skipReason` says why. */
  readonly argv: readonly string[] | null
  readonly skipReason: string | null
  /** The command line as a person would type it. */
  readonly display: string
  /** Text of the script behind the command; part of the evidence key. */
  readonly scriptText: string
  /**
   * A package script as one command line; run by `sh -c`, with the project's own programs first on PATH, when the manifest no longer says
   * `scriptText`. Absent for commands that are no package script.
   */
  readonly pinned?: string
  readonly timeoutMs: number
  readonly required: boolean
  readonly parallel: boolean
  readonly expectTests: number | null
}

export interface Evidence {
  readonly key: string
  readonly check: string
  readonly role: Check['role']
  readonly required: boolean
  readonly command: string
  readonly grade: Grade
  /** Why the grade is what it is, one sentence. */
  readonly reason: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly durationMs: number
  /** Tests the runner said it ran; null when unknown. */
  readonly tests: number | null
  /** Relative to the run directory; null when nothing ran. */
  readonly logPath: string | null
  /** The last lines of output, at most 4 KiB, secrets replaced. */
  readonly tail: string
  /** Taken from the cache: the same check on the same tree had run before. */
  readonly cached: boolean
}

/** Something a person should know that is no check: claimed files that do not exist, changes outside `paths`, … */
export interface Finding {
  readonly kind:
    | 'claimed-absent' | 'claimed-unchanged' | 'changed-unclaimed' | 'outside-paths' | 'report-absent' | 'permission-denied' | 'optional-check-red' | 'tree-moved'
  readonly message: string
  readonly files: readonly string[]
}

export type VerdictKind = 'verified' | 'rejected' | 'unverified' | 'unchanged'

export interface Verdict {
  readonly kind: VerdictKind
  /** One sentence naming the checks or the outcome that decided. */
  readonly reason: string
  /** A check could not be run at all: an error of the judge, not of the attempt. */
  readonly judgeError: boolean
  readonly evidence: readonly string[]
  readonly findings: readonly Finding[]
  /** Fingerprint of the tree that was judged. */
  readonly tree: string
}

export interface FileEdit {
  /** Relative to the work tree, forward slashes. */
  readonly path: string
  /** `null` deletes the file. */
  readonly content: string | null
  /** When set, exactly this text is replaced once; otherwise `content` is the whole file. */
  readonly find?: string
}

export type Decision =
  | { readonly kind: 'accept', readonly reason: string }
  | { readonly kind: 'retry', readonly reason: string, readonly guidance: string, readonly freshTree?: boolean }
  | { readonly kind: 'patch', readonly reason: string, readonly edits: readonly FileEdit[] }
  | { readonly kind: 'split', readonly reason: string, readonly tasks: readonly TaskSpec[] }
  | { readonly kind: 'escalate', readonly reason: string }

export type DecisionSource = 'policy' | 'advisor' | 'person'

/** What came back from an advisor, before legality is judged. */
export type Advice =
  | { readonly kind: 'decided', readonly decision: Decision, readonly askFile: string | null, readonly answerFile: string | null }
  /** Neither the answer nor the one repeat could be read. */
  | { readonly kind: 'unreadable', readonly reason: string, readonly askFile: string | null, readonly answerFile: string | null }
  /** The advisor could not be asked: timeout, no model, transport. */
  | { readonly kind: 'unavailable', readonly reason: string }
