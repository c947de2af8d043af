/** Composite abort signals that can't be inert: the list of sources is never empty, by type and at run time. */
import { OpenClaudeError } from '../../errors.ts'

export type AtLeastOne<T> = readonly [T, ...T[]]

/** Aborts with the reason of the first source that aborts; already aborted when one is. */
export function anySignal(sources: AtLeastOne<AbortSignal>): AbortSignal {
  // The type forbids an empty list; a cast elsewhere must not bring back a signal that never fires.
  if ((sources as readonly AbortSignal[]).length === 0) {
    throw new OpenClaudeError('OC_SIGNAL_EMPTY', 'A composite abort signal needs at least one source; it would never fire.', {
      fix: 'Pass the signal of the run.',
    })
  }
  return AbortSignal.any([...sources])
}
