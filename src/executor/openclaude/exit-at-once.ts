/**
 * Tells a program that can't work at all from an agent that failed: one that ends by itself before its first record never began its task (T14).
 * Pure. Such an end is a failed spawn: it costs no attempt, and the breaker stops the run when it repeats.
 */
import type { LaunchState, SpawnFailure } from '../../core/attempt-types.ts'

const QUOTED_CHARS = 300

/** Null = the launch is an attempt like any other. Only the first launch of an attempt counts: a resume may be refused without a record. */
export function exitedAtOnce(launch: LaunchState, argv: readonly string[], path: string): SpawnFailure | null {
  const { end } = launch
  if (end === null || launch.launch !== 1 || launch.adopted > 0 || end.endedBy !== null) return null
  if (end.records > 0 || end.resultOversize || !end.exit.known || end.exit.code === null) return null
  const [program = ''] = argv
  const said = end.stderrTail.replaceAll(/\s+/gu, ' ').trim().slice(-QUOTED_CHARS)
  return {
    reason: 'exits-at-once',
    message: `${program} exited at once with code ${end.exit.code}, before its first record. `
      + `${said === '' ? 'It said nothing.' : `It said: ${said}`} PATH of the child: ${path}`,
    key: `exits-at-once ${program} ${end.exit.code}`,
  }
}
