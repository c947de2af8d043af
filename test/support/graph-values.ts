/** Whole values of the core's vocabulary for tests that vary one part of them. */
import type { AttemptOutcome } from '../../src/core/attempt-types.ts'
import type { TaskSpec } from '../../src/core/graph-types.ts'

export function taskSpec(part: Partial<TaskSpec> = {}): TaskSpec {
  return { id: 't', title: 'T', description: 'Do it.', acceptanceCriteria: [], dependencies: [], priority: 0, assignee: 'openclaude', ...part }
}

export function attemptOutcome(part: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return {
    kind: 'succeeded', message: 'The child reported success.', launches: 1, sessionId: 's', exit: { known: true, code: 0, signal: null }, clock: null,
    lastPhase: null, lastTool: null, spawnFailure: null, result: null, report: { kind: 'absent' },
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 }, costUsd: 0, model: null, stderrTail: '', durationMs: 1,
    ...part,
  }
}
