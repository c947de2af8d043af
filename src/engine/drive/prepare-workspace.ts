/** Effect `prepare-workspace`: gives an attempt its tree and remembers what it looked like before the work. */
import type { RunEvent } from '../../core/run-types.ts'
import { attemptDir, ensurePrivateDir, shareTree, taskDir, writeTree } from '../state/attempt-files.ts'
import type { AttemptScope, EffectContext } from './effect-context.ts'

export async function prepareWorkspace(context: EffectContext, scope: AttemptScope): Promise<RunEvent> {
  const { spec, index } = scope.task
  const ref = { task: spec.id, attempt: scope.attempt.attempt }
  try {
    const workspace = await context.parts.workspace.prepare(spec.id, ref.attempt, { freshTree: scope.attempt.freshTree })
    const tree = await context.parts.workspace.snapshot(workspace)
    const dir = await ensurePrivateDir(attemptDir(context.runDir, index, spec.id, ref.attempt))
    await writeTree(dir, tree)
    await shareTree(dir, taskDir(context.runDir, index, spec.id), scope.attempt.freshTree ? 'replace' : 'keep')
    return { type: 'workspace-ready', ...ref, path: workspace.root, workspace: workspace.kind, tree: tree.fingerprint }
  } catch (error) {
    return { type: 'workspace-failed', ...ref, message: error instanceof Error ? error.message : String(error) }
  }
}
