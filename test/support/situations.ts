/**
 * Lives of children and what the watchdog must make of each, in both directions: `null` = never ended, else the clock and the second it fires.
 * Under the default clocks. Used by the unit test, and by `scripts/prove-guards.ts` with parts of the watchdog switched off.
 */
import type { Situation } from './situation.ts'
import { MODEL, PERMISSION, RETRIES, START } from './situations-model.ts'
import { AFTER_RESULT, PROCESS } from './situations-process.ts'
import { HELPERS, TOOLS } from './situations-work.ts'

export const SITUATIONS: readonly Situation[] = [
  ...START, ...MODEL, ...RETRIES, ...TOOLS, ...HELPERS, ...PERMISSION, ...AFTER_RESULT, ...PROCESS,
]
