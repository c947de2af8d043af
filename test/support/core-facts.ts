/** Makers of facts for tests of the core: tasks, policies, outcomes, evidence, verdicts. Every field can be overridden. */
import type { AttemptOutcome, LaunchEnd, LaunchFact, OutcomeKind, ReportedResult } from '../../src/core/attempt-types.ts'
import type { Evidence, Grade, Verdict, VerdictKind } from '../../src/core/evidence-types.ts'
import type { Graph, TaskSpec } from '../../src/core/graph-types.ts'
import type { RunPolicy } from '../../src/core/run-types.ts'

export function spec(id: string, dependencies: readonly string[] = [], over: Partial<TaskSpec> = {}): TaskSpec {
  return { id, title: `Title of ${id}`, description: `Do ${id}.`, acceptanceCriteria: [], dependencies, priority: 0, assignee: 'openclaude', ...over }
}

/** `graphOf({ a: [], b: ['a'] })`. */
export function graphOf(edges: Readonly<Record<string, readonly string[]>>): Graph {
  return { tasks: Object.entries(edges).map(([id, dependencies]) => spec(id, dependencies)) }
}

export function policy(over: Partial<RunPolicy> = {}): RunPolicy {
  return {
    maxConcurrency: 2,
    maxRetriesPerTask: 3,
    maxReworks: 2,
    maxSupervisionRounds: 5,
    acceptUnverified: false,
    supervised: false,
    maxBudgetUsd: null,
    maxBudgetTokens: null,
    breakerLimit: 3, sharedTree: false,
    maxSplitDepth: 2,
    maxSplitChildren: 50,
    agents: ['openclaude'],
    ...over,
  }
}

export function outcome(kind: OutcomeKind, over: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return {
    kind,
    message: `outcome ${kind}`,
    launches: 1,
    sessionId: null,
    exit: null,
    clock: null,
    lastPhase: null,
    lastTool: null,
    spawnFailure: kind === 'spawn-failed' ? { reason: 'not-found', message: 'openclaude is not on PATH (/bin)', key: 'not-found:openclaude' } : null,
    result: null,
    report: { kind: 'absent' },
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 },
    costUsd: 0,
    model: null,
    stderrTail: '',
    durationMs: 1,
    ...over,
  }
}

/** A result record that says success, unless told otherwise. */
export function reported(over: Partial<ReportedResult> = {}): ReportedResult {
  return { subtype: 'success', isError: false, stopReason: 'end_turn', text: 'done', errors: [], turns: 1, denials: [], ...over }
}

export function evidence(check: string, grade: Grade, over: Partial<Evidence> = {}): Evidence {
  return {
    key: `${check}-key`,
    check,
    role: 'extra',
    required: true,
    command: `npm run ${check}`,
    grade,
    reason: `${check} is ${grade}`,
    exitCode: grade === 'passed' ? 0 : 1,
    signal: null,
    durationMs: 1,
    tests: null,
    logPath: null,
    tail: `${check} output`,
    cached: false,
    ...over,
  }
}

export function verdict(kind: VerdictKind, over: Partial<Verdict> = {}): Verdict {
  return { kind, reason: `verdict ${kind}`, judgeError: false, evidence: ['test-key'], findings: [], tree: 'tree', ...over }
}

export function launchIntended(launch: number, over: Partial<Extract<LaunchFact, { kind: 'launch-intended' }>> = {}): LaunchFact {
  return { kind: 'launch-intended', launch, mode: 'fresh', reason: launch === 1 ? 'first' : 'stalled', sessionId: `s${launch}`, marker: `m${launch}`, dir: `l${launch}`, ...over }
}

export function launchEnd(over: Partial<LaunchEnd> = {}): LaunchEnd {
  return {
    exit: { known: true, code: 0, signal: null },
    endedBy: null,
    result: null,
    resultOversize: false,
    openTools: [],
    backgroundTasks: 0,
    records: 3,
    lastTool: null,
    lastPhase: null,
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheCreationTokens: 0 },
    costUsd: 0.25,
    model: null,
    stderrTail: '',
    durationMs: 10,
    ...over,
  }
}
