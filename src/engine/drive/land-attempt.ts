/** Effect `land`: brings accepted work to the run, takes in checks that the work brought along, and drops what only an open task needs. */
import { dropTrees } from '../state/attempt-files.ts'
import type { RunEvent } from '../../core/run-types.ts'
import type { AttemptScope, EffectContext } from './effect-context.ts'

export async function landAttempt(context: EffectContext, scope: AttemptScope): Promise<RunEvent> {
  const { spec, index } = scope.task
  const ref = { task: spec.id, attempt: scope.attempt.attempt }
  const workspace = await context.parts.workspace.prepare(spec.id, ref.attempt, { freshTree: false })
  const landed = await context.parts.workspace.land(spec.id, ref.attempt, workspace)
  if (landed.kind === 'refused') return { type: 'land-refused', ...ref, reason: landed.reason, message: landed.message }
  const appeared = await context.parts.repin()
  if (appeared.length > 0) await context.post({ type: 'pin-advanced', task: spec.id, checks: appeared })
  await dropTrees(context.runDir, index, spec.id, ref.attempt)
  return { type: 'landed', ...ref, commit: landed.commit }
}
