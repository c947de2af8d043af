/** Effect `prepare-workspace`: gives an attempt its tree and remembers what it looked like before the work. */
import { join } from 'node:path'
import { attemptDir, ensurePrivateDir, readTree, taskDir, writeTree } from './attempt-files.ts'
import type { AttemptScope, EffectContext } from './effects.ts'

/** The tree as it was before the first attempt of a task: what "unchanged" is measured against. */
export const TASK_TREE = 'before.json'

export async function prepareWorkspace(context: EffectContext, scope: AttemptScope): Promise<void> {
  const { spec, index } = scope.task
  const ref = { task: spec.id, attempt: scope.attempt.attempt }
  try {
    const workspace = await context.parts.workspace.prepare(spec.id, ref.attempt, { freshTree: scope.attempt.freshTree })
    const tree = await context.parts.workspace.snapshot(workspace)
    const dir = await ensurePrivateDir(attemptDir(context.runDir, index, spec.id, ref.attempt))
    await writeTree(join(dir, TASK_TREE), tree)
    const first = join(taskDir(context.runDir, index, spec.id), TASK_TREE)
    if (scope.attempt.freshTree || await readTree(first) === null) await writeTree(first, tree)
    await context.post({ type: 'workspace-ready', ...ref, path: workspace.root, workspace: workspace.kind, tree: tree.fingerprint })
  } catch (error) {
    await context.post({ type: 'workspace-failed', ...ref, message: error instanceof Error ? error.message : String(error) })
  }
}
