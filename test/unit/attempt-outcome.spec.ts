import { expect, test } from 'vitest'
import type { LaunchEnd, LaunchState } from '../../src/core/attempt-types.ts'
import { attemptOutcome } from '../../src/executor/attempt-outcome.ts'

function messageAfter(part: { readonly mode: LaunchState['mode'], readonly records: number }): string {
  const end = { exit: { known: true, code: 1, signal: null }, endedBy: null, result: null, lastPhase: null, lastTool: null, model: null, records: part.records, costUsd: 0, durationMs: 5, stderrTail: '', usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 } }
  const launch = { launch: 1, mode: part.mode, sessionId: 's1', end: end as unknown as LaunchEnd } as LaunchState
  return attemptOutcome({
    kind: 'no-result', launches: [launch], spawnFailure: null, report: { kind: 'absent' }, subject: 'OpenClaude', resumeCommand: id => `openclaude --resume ${id}`,
  }).message
}

test('a session is named only where there can be one: not after a child that exits at once (T14)', () => {
  const bare = 'OpenClaude ended without a result (exit code 1); 1 launch; last heartbeat phase none'
  const look = '; session s1, to look at it: openclaude --resume s1'
  expect(messageAfter({ mode: 'fresh', records: 0 })).toBe(`${bare}.`)
  expect([messageAfter({ mode: 'fresh', records: 1 }), messageAfter({ mode: 'resume', records: 0 })]).toEqual([`${bare}${look}.`, `${bare}${look}.`])
})
