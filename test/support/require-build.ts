/** Tests of the built package need `lib/`; a missing one is an error here, never a skipped test. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function setup(): void {
  const entry = fileURLToPath(new URL('../../lib/cli/main.js', import.meta.url))
  if (!existsSync(entry)) throw new Error('lib/ is not built: run `npm run build` first')
}
