/** What the owner of an attempt asked for while it ran. The first of stop and abort decides the outcome, except that an abort overrules a stop; `now` only makes it faster. */
import type { AttemptEndRequest } from './executor.ts'
import type { EndUrgency } from './keeper/launch-types.ts'

export interface EndRequests {
  readonly outcome: 'stopped' | 'aborted' | null
  readonly urgency: EndUrgency | null
  readonly add: (request: AttemptEndRequest) => void
  /** Called with the urgency at once when something was asked already, and whenever it grows. Returns a function that unsubscribes. */
  readonly onEnd: (listener: (urgency: EndUrgency) => void) => () => void
}

export function newEndRequests(): EndRequests {
  let outcome: EndRequests['outcome'] = null
  let urgency: EndUrgency | null = null
  const listeners = new Set<(urgency: EndUrgency) => void>()
  return {
    get outcome() { return outcome },
    get urgency() { return urgency },
    add: request => {
      if (request === 'abort') outcome = 'aborted'
      else outcome ??= 'stopped'
      const asked: EndUrgency = request === 'now' ? 'now' : 'ladder'
      if (urgency === 'now' || urgency === asked) return
      urgency = asked
      for (const listener of listeners) listener(asked)
    },
    onEnd: listener => {
      listeners.add(listener)
      if (urgency !== null) listener(urgency)
      return () => listeners.delete(listener)
    },
  }
}
