/** A folder that is removed after the test that asked for it. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Absolute real path, mode 0700. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-openclaude-test-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a file into a new folder and returns its path. */
export function tempFile(name: string, content: string | Uint8Array): string {
  const path = join(tempFolder(), name)
  writeFileSync(path, content)
  return path
}
