/**
 * A crash that tests order: `OC_CRASH_AT=<n>:before|mid|after` kills this process at the n-th journal write (F1).
 * Does nothing unless the variable is set.
 */
import { OpenClaudeError } from '../../errors.ts'

export type CrashMoment = 'before' | 'mid' | 'after'

export interface CrashPoint {
  readonly write: number
  readonly moment: CrashMoment
}

export function parseCrashPoint(text: string | undefined): CrashPoint | null {
  if (text === undefined || text === '') return null
  const match = /^([1-9]\d*):(before|mid|after)$/.exec(text)
  if (match === null) {
    throw new OpenClaudeError('OC_CONFIG_INVALID', `OC_CRASH_AT must look like 3:before, 3:mid or 3:after, but is ${JSON.stringify(text)}. Unset it.`, {
      subject: 'OC_CRASH_AT', fix: 'Unset OC_CRASH_AT; it is meant for tests.',
    })
  }
  return { write: Number(match[1]), moment: match[2] as CrashMoment }
}

/** Does not return: SIGKILL reaches every thread, and this one waits for it. */
export function crashNow(): never {
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
