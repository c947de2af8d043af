/** Effect `execute`: writes the prompt, starts (or goes on with) an attempt by its executor, and journals what the executor reports. */
import { join } from 'node:path'
import { buildPrompt } from '../../core/prompt.ts'
import type { RunEvent } from '../../core/run-types.ts'
import type { AttemptActivity, AttemptHandle, AttemptPorts, AttemptRequest, Executor } from '../../executor/executor.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { attemptDir, ensurePrivateDir, readTree, writeAttemptFile } from '../state/attempt-files.ts'
import type { AttemptScope, EffectContext } from './effect-context.ts'

export type StartedAttempt =
  | { readonly kind: 'running', readonly handle: AttemptHandle }
  /** No child was started, and none of this attempt will be. */
  | { readonly kind: 'refused', readonly event: RunEvent }

export async function executeAttempt(
  context: EffectContext,
  scope: AttemptScope,
  activity: (activity: AttemptActivity) => void,
): Promise<StartedAttempt> {
  const { spec } = scope.task
  const ref = { task: spec.id, attempt: scope.attempt.attempt }
  const executor = context.parts.executor(spec.assignee)
  if (executor === undefined) {
    return { kind: 'refused', event: { type: 'workspace-failed', ...ref, message: `no executor is named "${spec.assignee}"` } }
  }
  const workspace = await context.parts.workspace.prepare(spec.id, ref.attempt, { freshTree: false })
  const request = await attemptRequest(context, scope, workspace, executor)
  const ports: AttemptPorts = {
    record: fact => context.post({ type: 'launch-fact', ...ref, fact }),
    activity,
    fingerprint: async () => (await context.parts.workspace.snapshot(workspace)).fingerprint,
    redact: context.parts.redact,
  }
  return { kind: 'running', handle: executor.start(request, ports) }
}

/** Keeps what the attempt changed as `diff.patch`, so that work of an attempt that is not accepted can be got back. */
export async function keepDiff(context: EffectContext, scope: AttemptScope): Promise<void> {
  const { spec, index } = scope.task
  const dir = attemptDir(context.runDir, index, spec.id, scope.attempt.attempt)
  const before = await readTree(dir)
  if (before === null) return
  const workspace = await context.parts.workspace.prepare(spec.id, scope.attempt.attempt, { freshTree: false })
  const after = await context.parts.workspace.snapshot(workspace)
  if (after.fingerprint === before.fingerprint) return
  await writeAttemptFile(join(dir, 'diff.patch'), context.parts.redact(await context.parts.diff(workspace, before, after)))
}

async function attemptRequest(
  context: EffectContext,
  scope: AttemptScope,
  workspace: Workspace,
  executor: Executor,
): Promise<AttemptRequest> {
  const { task: { spec, index }, attempt } = scope
  const dir = await ensurePrivateDir(attemptDir(context.runDir, index, spec.id, attempt.attempt))
  const prompt = executor.agent
    ? buildPrompt({
      task: spec,
      context: await context.parts.context(spec, workspace),
      kind: attempt.kind,
      guidance: attempt.guidance,
      guidanceSource: attempt.guidanceSource,
    })
    : ''
  if (executor.agent) await writeAttemptFile(join(dir, 'prompt.md'), context.parts.redact(prompt))
  return {
    run: context.run,
    task: spec.id,
    taskIndex: index,
    attempt: attempt.attempt,
    attemptDir: dir,
    runDir: context.runDir,
    workspaceRoot: workspace.root,
    cwd: workspace.cwd,
    prompt,
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.model === undefined ? {} : { model: spec.model }),
    timeouts: spec.timeouts ?? {},
    launches: attempt.launches,
  }
}
