/** Turns the history of a run into its report. Pure: adds up and renames, decides nothing. */
import type { RunResult } from '../core/entry-types.ts'
import { addUsage, NO_USAGE } from '../core/usage.ts'
import type { AttemptHistory, LaunchHistory } from './attempt-history.ts'
import type { RunHistory, TaskHistory } from './history.ts'
import { REPORT_VERSION, type Report, type ReportAttempt, type ReportLaunch, type ReportTask } from './report-schema.ts'

export interface ReportFacts {
  readonly workdir: string
  readonly graphPath: string | null
  readonly graphSha256: string
  readonly directory: string
  readonly product: string
  /** The command that opens a session by hand; null when the session is gone or the executor has none. */
  readonly resumeCommand: (task: TaskHistory, launch: LaunchHistory) => string | null
}

/** Exit code of a run by its result (SEMANTICS 2). A run ended by a signal exits with the signal's code instead. */
export function exitCodeOf(result: RunResult): number {
  switch (result.kind) {
    case 'complete':
      return 0
    case 'incomplete':
    case 'halted':
      return 1
    case 'aborted':
      return 130
  }
}

export function buildReport(history: RunHistory, facts: ReportFacts): Report {
  const tasks = history.tasks.map(task => reportTask(task, facts))
  const { result } = history
  return {
    version: REPORT_VERSION,
    run: {
      id: history.run,
      status: history.status,
      result: result?.kind ?? null,
      resultMessage: resultMessage(result),
      exitCode: result === null ? null : exitCodeOf(result),
      createdAt: history.createdAt,
      finishedAt: history.finishedAt,
      durationMs: between(history.createdAt, history.finishedAt),
      engines: history.engines,
      workdir: facts.workdir,
      graphPath: facts.graphPath,
      graphSha256: facts.graphSha256,
      directory: facts.directory,
      product: facts.product,
    },
    counts: countBy(history.tasks),
    usage: tasks.flatMap(task => task.attempts).map(attempt => attempt.usage).reduce(addUsage, NO_USAGE),
    costUsd: sum(tasks.map(task => task.costUsd)),
    tasks,
    warnings: [...history.warnings],
  }
}

function reportTask(task: TaskHistory, facts: ReportFacts): ReportTask {
  const attempts = task.attempts.map(attempt => reportAttempt(task, attempt, facts))
  return {
    id: task.id,
    title: task.spec.title,
    status: task.status,
    reason: task.reason,
    rootCauses: [...task.causes],
    handoff: task.handoff,
    dependencies: [...task.spec.dependencies],
    parent: task.parent,
    verdict: attempts.at(-1)?.verdict?.kind ?? null,
    attempts,
    answers: [...task.answers],
    costUsd: sum(attempts.map(attempt => attempt.costUsd)),
  }
}

function reportAttempt(task: TaskHistory, attempt: AttemptHistory, facts: ReportFacts): ReportAttempt {
  const { outcome } = attempt
  const verdict = attempt.verdicts.at(-1)
  return {
    attempt: attempt.attempt,
    kind: attempt.kind,
    startedAt: attempt.startedAt,
    endedAt: attempt.endedAt,
    durationMs: between(attempt.startedAt, attempt.endedAt),
    outcome: outcome?.kind ?? null,
    message: outcome?.message ?? null,
    lastPhase: outcome?.lastPhase ?? null,
    clock: outcome?.clock ?? null,
    denials: outcome?.result?.denials.map(denial => denial.tool) ?? [],
    claims: outcome?.report.kind === 'present'
      ? { summary: outcome.report.summary, files: [...outcome.report.files], verification: outcome.report.verification, unfinished: outcome.report.unfinished }
      : null,
    launches: attempt.launches.map(launch => reportLaunch(task, launch, facts)),
    evidence: attempt.evidence.map(({ check, role, required, command, grade, reason, exitCode, signal, durationMs, tests, logPath, cached }) =>
      ({ check, role, required, command, grade, reason, exitCode, signal, durationMs, tests, logPath, cached })),
    verdict: verdict === undefined
      ? null
      : { kind: verdict.kind, reason: verdict.reason, findings: verdict.findings.map(finding => ({ ...finding, files: [...finding.files] })) },
    decisions: attempt.decisions.map(({ round, by, decision, at }) => ({ round, by, kind: decision.kind, reason: decision.reason, at })),
    advice: [...attempt.advice],
    usage: outcome?.usage ?? attempt.launches.map(launch => launch.end?.usage ?? NO_USAGE).reduce(addUsage, NO_USAGE),
    costUsd: outcome?.costUsd ?? sum(attempt.launches.map(launch => launch.end?.costUsd ?? 0)),
  }
}

function reportLaunch(task: TaskHistory, launch: LaunchHistory, facts: ReportFacts): ReportLaunch {
  const { end } = launch
  const exit = end?.exit
  return {
    launch: launch.launch,
    mode: launch.mode,
    reason: launch.reason,
    sessionId: launch.sessionId,
    resumeCommand: facts.resumeCommand(task, launch),
    startedAt: launch.startedAt,
    endedAt: launch.endedAt,
    adopted: launch.adopted,
    exitCode: exit?.known === true ? exit.code : null,
    signal: exit?.known === true ? exit.signal : null,
    exitKnown: exit?.known ?? false,
    endedBy: end === null || end.endedBy === null ? null : end.endedBy.kind === 'clock' ? `clock ${end.endedBy.clock}` : end.endedBy.kind,
    swept: launch.swept,
    spawnFailure: launch.spawnFailure,
    model: end?.model ?? null,
    usage: end?.usage ?? null,
    costUsd: end?.costUsd ?? 0,
    directory: launch.dir,
  }
}

function resultMessage(result: RunResult | null): string | null {
  if (result?.kind === 'halted') return result.message
  if (result?.kind === 'aborted') return `aborted by ${result.by}`
  return null
}

function countBy(tasks: readonly TaskHistory[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of tasks) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function between(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : Date.parse(to) - Date.parse(from)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
