/** The fold as plain data and back. A snapshot is a cache of the journal: whoever reads one checks that it covers the journal it lies beside, and drops it otherwise. */
import type { RunPolicy, RunState } from './run-types.ts'

/** Survives JSON. Holds what the entries tell and nothing else: the policy comes from the configuration, `byId` from the tasks. */
export type RunSnapshot = Omit<RunState, 'policy' | 'byId'>

/** Shares its parts with `state`: serialise it before the next entry is applied. */
export function toSnapshot({ policy: _policy, byId: _byId, ...rest }: RunState): RunSnapshot {
  return rest
}

/** Takes `snapshot` over as the new state. */
export function fromSnapshot(snapshot: RunSnapshot, policy: RunPolicy): RunState {
  for (const task of snapshot.tasks) {
    // An accepted hand-off lands the attempt that is also the last one: one object in the fold, two in JSON.
    if (task.state.status === 'landing' && task.last?.attempt === task.state.attempt.attempt) task.last = task.state.attempt
  }
  return { ...snapshot, policy, byId: new Map(snapshot.tasks.map(task => [task.spec.id, task])) }
}
