/** Effect `prepare-workspace`: gives an attempt its tree and remembers what it looked like before the work. */
import type { RunEvent } from '../../core/run-types.ts'
import { attemptDir, ensurePrivateDir, readTree, taskDir, writeTree } from '../state/attempt-files.ts'
import type { AttemptScope, EffectContext } from './effect-context.ts'

export async function prepareWorkspace(context: EffectContext, scope: AttemptScope): Promise<RunEvent> {
  const { spec, index } = scope.task
  const ref = { task: spec.id, attempt: scope.attempt.attempt }
  try {
    const workspace = await context.parts.workspace.prepare(spec.id, ref.attempt, { freshTree: scope.attempt.freshTree })
    const tree = await context.parts.workspace.snapshot(workspace)
    await writeTree(await ensurePrivateDir(attemptDir(context.runDir, index, spec.id, ref.attempt)), tree)
    const whole = taskDir(context.runDir, index, spec.id)
    if (scope.attempt.freshTree || await readTree(whole) === null) await writeTree(whole, tree)
    return { type: 'workspace-ready', ...ref, path: workspace.root, workspace: workspace.kind, tree: tree.fingerprint }
  } catch (error) {
    return { type: 'workspace-failed', ...ref, message: error instanceof Error ? error.message : String(error) }
  }
}
