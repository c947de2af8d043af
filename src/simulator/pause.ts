/** Waiting that an interrupt ends, and the two ways to block the event loop. */

/** Thrown by a wait that SIGINT ended. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Thrown to leave the play at once; `code` null: by the result that was already written. */
export class PlayOver extends Error {
  override readonly name = 'PlayOver'
}

const LONGEST_TIMER_MS = 2_147_483_647

/** Resolves after `ms`; undefined = never. Rejects with Interrupted when the signal aborts. Keeps the process alive. */
export function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  return interruptible(new Promise(resolve => {
    if (ms !== undefined) setTimeout(resolve, ms)
  }), signal)
}

export async function interruptible<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const hold = setInterval(() => undefined, LONGEST_TIMER_MS)
  let stop = (): void => undefined
  const interrupted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new Interrupted())
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, interrupted])
  } finally {
    clearInterval(hold)
    signal.removeEventListener('abort', stop)
  }
}

/** Stops the event loop without using CPU; undefined = for ever. */
export function blockDead(ms: number | undefined): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(cell, 0, 0, ms ?? Infinity)
}

/** Stops the event loop at full CPU. */
export function blockBusy(ms: number | undefined): void {
  const until = performance.now() + (ms ?? Infinity)
  while (performance.now() < until) Math.hypot(until, 1)
}

/** One whole round of the event loop: signals that arrived while it was blocked are heard. */
export async function loopRound(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => setImmediate(resolve))
}
