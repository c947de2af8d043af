/** Turns signals and the end of standard input into requests to a run: the first is graceful, the second is now (SEMANTICS 11). */
import type { EndingSignal } from './exit-code.ts'
import { SIGNAL_EXIT } from './exit-code.ts'

export interface Stoppable {
  readonly stop: (reason: string) => void
  readonly stopNow: (reason: string) => void
}

export interface SignalWatch {
  /** The first signal that came; null when none did. */
  readonly first: () => EndingSignal | null
  readonly close: () => void
}

export function watchSignals(target: Stoppable, options: { readonly stdinEof: boolean, readonly say: (line: string) => void }): SignalWatch {
  let first: EndingSignal | null = null
  const onSignal = (signal: EndingSignal): void => {
    if (first === null) {
      first = signal
      options.say(`${signal}: stopping; children are being interrupted, the run stays resumable. Once more ends them at once.`)
      target.stop(signal)
      return
    }
    options.say(`${signal}: ending every child now.`)
    target.stopNow(signal)
  }
  const signals = Object.keys(SIGNAL_EXIT) as EndingSignal[]
  const handlers = signals.map(signal => ({ signal, handler: () => onSignal(signal) }))
  for (const { signal, handler } of handlers) process.on(signal, handler)
  const onEof = (): void => onSignal('SIGHUP')
  if (options.stdinEof) {
    process.stdin.resume()
    process.stdin.once('end', onEof)
  }
  return {
    first: () => first,
    close: () => {
      for (const { signal, handler } of handlers) process.off(signal, handler)
      if (options.stdinEof) {
        process.stdin.off('end', onEof)
        process.stdin.pause()
        process.stdin.unref()
      }
    },
  }
}
