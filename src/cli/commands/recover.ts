/** `recover [run]`: what is kept of attempts that were not accepted: the diff, the session, the logs, and how to get each back. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { attemptDir } from '../../engine/state/attempt-files.ts'
import { readRun } from '../../engine/runs/runs.ts'
import { OpenClaudeError } from '../../errors.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'

export async function recoverCommand([run]: readonly string[], options: CommonOptions, output: Output): Promise<number> {
  const snapshot = await readRun(run ?? null, configOf(options))
  if (snapshot === null) throw new OpenClaudeError('OC_RUN_UNKNOWN', 'This repository has no run to recover from.', { fix: 'dsh-openclaude status' })
  const { history, report, runDir } = snapshot
  const kept = report.tasks.flatMap((task, index) => task.attempts
    .filter(attempt => task.status !== 'accepted' || attempt !== task.attempts.at(-1))
    .map(attempt => {
      const dir = attemptDir(runDir, history.tasks[index]?.index ?? index, task.id, attempt.attempt)
      const diff = join(dir, 'diff.patch')
      return {
        task: task.id,
        attempt: attempt.attempt,
        outcome: attempt.outcome,
        verdict: attempt.verdict?.kind ?? null,
        directory: dir,
        diff: existsSync(diff) ? diff : null,
        resumeCommand: attempt.launches.at(-1)?.resumeCommand ?? null,
      }
    }))
  if (kept.length === 0) output.say(`run ${history.run}: every attempt was accepted; nothing was set aside`)
  for (const item of kept) {
    output.say(`${item.task} attempt ${item.attempt}: ${item.outcome ?? 'open'}${item.verdict === null ? '' : `, ${item.verdict}`}`)
    output.say(`  files: ${item.directory}`)
    if (item.diff !== null) output.say(`  work:  git apply ${item.diff}`)
    if (item.resumeCommand !== null) output.say(`  talk:  ${item.resumeCommand}`)
  }
  output.document({ run: history.run, attempts: kept })
  return 0
}
