/** A project in a temporary folder, removed when the test ends. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface TempProject {
  /** Absolute real path. */
  readonly root: string
  readonly path: (name: string) => string
  readonly write: (name: string, content: string) => void
  readonly git: (...args: readonly string[]) => string
}

export function tempProject(files: Readonly<Record<string, string>> = {}): TempProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'oc-project-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const path = (name: string): string => join(root, name)
  const write = (name: string, content: string): void => {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), content)
  }
  const git = (...args: readonly string[]): string => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: root, encoding: 'utf8' })
  for (const [name, content] of Object.entries(files)) write(name, content)
  return { root, path, write, git }
}
