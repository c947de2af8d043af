/** A private folder for one test, removed afterwards. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Absolute real path, mode 0700. */
export function temporaryFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'oc-test-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
