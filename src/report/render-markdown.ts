/** `report.md`: the report for a person, worst news first. */
import { formatDuration } from './duration.ts'
import { printable, printableLine } from './printable.ts'
import type { Report, ReportAttempt, ReportTask } from './report-schema.ts'

export function renderMarkdown(report: Report): string {
  const { run } = report
  const facts = [
    `- Result: **${run.result ?? run.status}**${run.resultMessage === null ? '' : ` (${line(run.resultMessage)})`}`,
    `- Tasks: ${Object.entries(report.counts).map(([status, count]) => `${count} ${status}`).join(', ')}`,
    `- Time: ${run.createdAt ?? '?'} to ${run.finishedAt ?? 'now'}${run.durationMs === null ? '' : ` (${formatDuration(run.durationMs)})`}`,
    `- Cost as reported by the children: $${report.costUsd.toFixed(4)}; tokens in ${report.usage.inputTokens}, out ${report.usage.outputTokens}`,
    `- Work directory: \`${run.workdir}\``,
    `- Run directory: \`${run.directory}\``,
  ]
  const troubled = report.tasks.filter(task => task.status !== 'accepted' && task.status !== 'split')
  return [
    `# Run ${run.id}`,
    '',
    ...facts,
    '',
    ...(troubled.length === 0 ? [] : ['## Not done', '', ...troubled.map(troubleLine), '']),
    '## Tasks',
    '',
    '| task | status | verdict | attempts | launches | working time | cost |',
    '|---|---|---|--:|--:|--:|--:|',
    ...report.tasks.map(taskRow),
    '',
    ...report.tasks.filter(task => task.attempts.length > 0).flatMap(taskSection),
    ...(report.warnings.length === 0 ? [] : ['## Warnings', '', ...report.warnings.map(warning => `- ${warning.at} ${warning.code}: ${line(warning.message)}`), '']),
  ].join('\n')
}

function taskRow(task: ReportTask): string {
  const launches = task.attempts.reduce((count, attempt) => count + attempt.launches.length, 0)
  const time = task.attempts.reduce((total, attempt) => total + (attempt.durationMs ?? 0), 0)
  const cells = [
    cell(task.id), task.status, task.verdict ?? '', String(task.attempts.length), String(launches),
    task.attempts.length === 0 ? '' : formatDuration(time), task.costUsd > 0 ? `$${task.costUsd.toFixed(4)}` : '',
  ]
  return `| ${cells.join(' | ')} |`
}

function troubleLine(task: ReportTask): string {
  const causes = task.rootCauses.length === 0 ? '' : `, because of ${task.rootCauses.join(', ')}`
  const reason = task.reason === null ? '' : `: ${line(task.reason).replace(/\.$/, '')}`
  const next = task.handoff === null ? '' : `. Answer with \`dsh-openclaude resolve\` (hand-off ${task.handoff})`
  return `- **${task.id}** ${task.status}${causes}${reason}${next}`
}

function taskSection(task: ReportTask): readonly string[] {
  return [
    `### ${task.id}: ${line(task.title)}`,
    '',
    ...task.attempts.flatMap(attemptSection),
    ...task.answers.map(answer => `- ${answer.at}: ${answer.by} answered **${answer.answer}**${answer.note === '' ? '' : `, ${line(answer.note)}`}`),
    '',
  ]
}

function attemptSection(attempt: ReportAttempt): readonly string[] {
  return [
    `Attempt ${attempt.attempt} (${attempt.kind}): ${attempt.outcome ?? 'still open'}${attempt.message === null ? '' : `. ${line(attempt.message)}`}`,
    '',
    ...attempt.launches.map(launch =>
      `- launch ${launch.launch} (${launch.mode}, ${launch.reason}), session \`${launch.sessionId}\`, ${launchEnd(launch)}`
      + (launch.resumeCommand === null ? '' : `; resume by hand: \`${launch.resumeCommand}\``)),
    ...attempt.evidence.map(check =>
      `- ${check.check}: **${check.grade}**${ranAs(check)}`
      + `${check.cached ? ', known from before' : ''}${check.grade === 'passed' ? '' : `; ${line(check.reason)}`}${check.logPath === null ? '' : `; log \`${check.logPath}\``}`),
    ...(attempt.verdict === null ? [] : [`- verdict: **${attempt.verdict.kind}**, ${line(attempt.verdict.reason)}`]),
    ...(attempt.verdict?.findings ?? []).map(finding => `- finding: ${line(finding.message)}`),
    ...attempt.decisions.map(decision => `- ${decision.by} decided **${decision.kind}**${decision.reason === '' ? '' : `: ${line(decision.reason)}`}`),
    ...(attempt.claims === null ? [] : [`- the child claims: ${line(attempt.claims.summary)}`]),
    '',
  ]
}

/** Nothing for a check that never ran. */
function ranAs(check: ReportAttempt['evidence'][number]): string {
  if (check.command === '') return ''
  return `, \`${line(check.command)}\`, exit ${check.exitCode ?? check.signal ?? 'none'}, ${formatDuration(check.durationMs)}`
}

function launchEnd(launch: ReportAttempt['launches'][number]): string {
  if (launch.spawnFailure !== null) return `not started: ${line(launch.spawnFailure)}`
  if (launch.endedAt === null) return 'not ended'
  const exit = launch.signal ?? (launch.exitCode === null ? 'unknown' : String(launch.exitCode))
  return `exit ${exit}${launch.endedBy === null ? '' : `, ended by ${launch.endedBy}`}${launch.swept === 'tainted' ? ', left processes behind' : ''}`
}

function line(text: string): string {
  return printableLine(text, 400)
}

function cell(text: string): string {
  return printable(text).replaceAll('|', '\\|')
}
