import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { GUARDS } from '../support/guards.ts'
import { SITUATIONS } from '../support/situations.ts'

it('R-109: switching off any one clock or rule of the watchdog makes its named situation come out wrong', () => {
  const script = fileURLToPath(new URL('../../scripts/prove-guards.ts', import.meta.url))
  const last = execFileSync(process.execPath, [script], { encoding: 'utf8' }).trimEnd().split('\n').at(-1)
  expect(last).toBe(`${String(GUARDS.length)} guards proven, 0 not, over ${String(SITUATIONS.length)} situations`)
})
