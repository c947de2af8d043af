/** `clean [run]`: removes finished runs and the sessions they made. Never a run that is unfinished or owned. */
import { cleanRuns } from '../../engine/runs/clean-runs.ts'
import { OpenClaudeError } from '../../errors.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'

export async function cleanCommand(
  [run]: readonly string[],
  options: CommonOptions & { readonly olderThan?: string, readonly dryRun?: boolean },
  output: Output,
): Promise<number> {
  const days = options.olderThan === undefined ? 0 : Number(options.olderThan.replace(/d$/, ''))
  if (!Number.isFinite(days) || days < 0) {
    throw new OpenClaudeError('OC_USAGE', `clean: --older-than ${options.olderThan ?? ''} is no number of days.`, { fix: 'For example: --older-than 14' })
  }
  const cleaned = await cleanRuns({
    config: configOf(options), run: run ?? null, olderThanMs: days * 86_400_000, now: Date.now(), dryRun: options.dryRun === true,
  })
  for (const item of cleaned) output.say(`${item.run}: ${item.kept === null ? (options.dryRun === true ? 'would be removed' : 'removed') : `kept, ${item.kept}`}`)
  if (cleaned.length === 0) output.say('no run to clean')
  output.document({ dryRun: options.dryRun === true, runs: cleaned })
  return 0
}
