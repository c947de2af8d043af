/** Effects `judge`, `advise`, `plan-patch` and `apply-patch`: hand facts to the supervision parts, hand their answers back as events. */
import { join } from 'node:path'
import { OpenClaudeError } from '../../errors.ts'
import type { AttemptOutcome } from '../../core/attempt-types.ts'
import type { FileEdit, Verdict } from '../../core/evidence-types.ts'
import type { RunEvent } from '../../core/run-types.ts'
import type { TreeSnapshot, Workspace } from '../../workspace/workspace.ts'
import { attemptDir, ensurePrivateDir, readTree, taskDir } from '../state/attempt-files.ts'
import type { AttemptScope, EffectContext } from './effect-context.ts'
import type { PatchRequest } from './parts.ts'

export async function judgeAttempt(context: EffectContext, scope: AttemptScope): Promise<RunEvent> {
  const { workspace, before, taskBefore } = await trees(context, scope)
  const { spec, index } = scope.task
  const ref = { task: spec.id, attempt: scope.attempt.attempt }
  const verdict: Verdict = await context.parts.judge.judge({
    task: spec,
    attempt: ref.attempt,
    workspace,
    before,
    taskBefore: taskBefore.fingerprint,
    after: await context.parts.workspace.snapshot(workspace),
    fingerprint: async () => (await context.parts.workspace.snapshot(workspace)).fingerprint,
    outcome: outcomeOf(scope),
    agent: context.parts.executor(spec.assignee)?.agent ?? true,
    logDir: await ensurePrivateDir(join(attemptDir(context.runDir, index, spec.id, ref.attempt), 'checks')),
    runDir: context.runDir,
    signal: context.signal,
    onEvidence: evidence => context.post({ type: 'evidence', ...ref, evidence }),
  })
  return { type: 'judged', ...ref, verdict }
}

export async function adviseAttempt(context: EffectContext, scope: AttemptScope, round: number): Promise<RunEvent> {
  const { attempt, task } = scope
  const ref = { task: task.spec.id, attempt: attempt.attempt, round }
  if (context.parts.advisor === null || attempt.verdict === null) {
    return { type: 'advised', ...ref, advice: { kind: 'unavailable', reason: 'no supervisor model is configured' } }
  }
  const { workspace, taskBefore } = await trees(context, scope)
  const advice = await context.parts.advisor.advise({
    task: task.spec,
    attempt: ref.attempt,
    round,
    attemptsLeft: context.attemptsLeft(scope.task),
    outcome: outcomeOf(scope),
    verdict: attempt.verdict,
    evidence: attempt.evidence,
    diff: await context.parts.diff(workspace, taskBefore, await context.parts.workspace.snapshot(workspace)),
    workspace,
    adviceDir: await ensurePrivateDir(join(attemptDir(context.runDir, task.index, task.spec.id, ref.attempt), 'advice')),
    runDir: context.runDir,
    signal: context.signal,
  })
  return { type: 'advised', ...ref, advice }
}

export async function planPatch(context: EffectContext, scope: AttemptScope, round: number, edits: readonly FileEdit[]): Promise<RunEvent> {
  const ref = { task: scope.task.spec.id, attempt: scope.attempt.attempt, round }
  const request = await patchRequest(context, scope, round, edits)
  const plan = await context.parts.patches.plan(request)
  if ('refused' in plan) {
    const { fingerprint } = await request.snapshot()
    return { type: 'patched', ...ref, result: 'refused', reason: plan.refused, tree: fingerprint }
  }
  return { type: 'patch-planned', ...ref, ...plan }
}

export async function applyPatch(context: EffectContext, scope: AttemptScope, round: number): Promise<RunEvent> {
  const { patch, decision } = scope.attempt
  if (patch === null || decision?.kind !== 'patch') throw new OpenClaudeError('OC_INTERNAL', 'A patch is applied that was never planned')
  const request = await patchRequest(context, scope, round, decision.edits)
  const applied = await context.parts.patches.apply(request, patch)
  const { fingerprint } = await request.snapshot()
  return { type: 'patched', task: scope.task.spec.id, attempt: scope.attempt.attempt, round, ...applied, tree: fingerprint }
}

async function patchRequest(context: EffectContext, scope: AttemptScope, round: number, edits: readonly FileEdit[]): Promise<PatchRequest> {
  const { spec, index } = scope.task
  const workspace = await context.parts.workspace.prepare(spec.id, scope.attempt.attempt, { freshTree: false })
  return {
    workspace,
    edits,
    attemptDir: attemptDir(context.runDir, index, spec.id, scope.attempt.attempt),
    runDir: context.runDir,
    round,
    snapshot: () => context.parts.workspace.snapshot(workspace),
  }
}

interface Trees {
  readonly workspace: Workspace
  readonly before: TreeSnapshot
  readonly taskBefore: TreeSnapshot
}

async function trees(context: EffectContext, scope: AttemptScope): Promise<Trees> {
  const { spec, index } = scope.task
  const workspace = await context.parts.workspace.prepare(spec.id, scope.attempt.attempt, { freshTree: false })
  const before = await readTree(attemptDir(context.runDir, index, spec.id, scope.attempt.attempt))
  const taskBefore = await readTree(taskDir(context.runDir, index, spec.id))
  const empty: TreeSnapshot = { fingerprint: '', files: new Map() }
  return { workspace, before: before ?? empty, taskBefore: taskBefore ?? before ?? empty }
}

function outcomeOf(scope: AttemptScope): AttemptOutcome {
  if (scope.attempt.outcome === null) throw new OpenClaudeError('OC_INTERNAL', `Attempt ${scope.attempt.attempt} of task "${scope.task.spec.id}" is judged before it ended`)
  return scope.attempt.outcome
}
