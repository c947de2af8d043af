/** Effect `execute`: writes the prompt, starts (or goes on with) an attempt by its executor, and journals what the executor reports. */
import { join } from 'node:path'
import { renderPrompt } from '../core/prompt.ts'
import type { AttemptActivity, AttemptHandle, AttemptPorts, AttemptRequest, Executor } from '../executor/executor.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { attemptDir, ensurePrivateDir } from './attempt-files.ts'
import { writeFileDurable } from './durable-file.ts'
import type { AttemptScope, EffectContext } from './effects.ts'

/** Null when the attempt ended before a child could be started (its event is posted). */
export async function executeAttempt(
  context: EffectContext,
  scope: AttemptScope,
  activity: (activity: AttemptActivity) => void,
): Promise<AttemptHandle | null> {
  const { spec } = scope.task
  const ref = { task: spec.id, attempt: scope.attempt.attempt }
  const executor = context.parts.executor(spec.assignee)
  if (executor === undefined) {
    await context.post({ type: 'workspace-failed', ...ref, message: `no executor is named "${spec.assignee}"` })
    return null
  }
  const workspace = await context.parts.workspace.prepare(spec.id, ref.attempt, { freshTree: false })
  const request = await attemptRequest(context, scope, workspace, executor)
  const ports: AttemptPorts = {
    record: fact => context.post({ type: 'launch-fact', ...ref, fact }),
    activity,
    fingerprint: async () => (await context.parts.workspace.snapshot(workspace)).fingerprint,
    redact: context.parts.redact,
  }
  return executor.start(request, ports)
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
    ? renderPrompt({ task: spec, context: await context.parts.context(spec, workspace), guidance: attempt.guidance, guidanceSource: attempt.guidanceSource })
    : ''
  await writeFileDurable(join(dir, 'prompt.md'), context.parts.redact(prompt))
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
