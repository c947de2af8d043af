/**
 * What changed between two snapshots, as paths and as text for people and models. Text comes from git where the tree is one,
 * with nothing configured in the repository allowed to run; it is capped and says so where it was cut.
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from './git.ts'
import type { TreeSnapshot, Workspace } from './workspace.ts'

export interface TreeChanges {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly deleted: readonly string[]
}

const DIFF_TIMEOUT_MS = 20_000
const MAX_PATHS = 500
/** A file longer than this is named, not shown. */
const MAX_WHOLE_FILE_BYTES = 64 * 1024

/** Sorted paths, as in the snapshots. */
export function changedFiles(before: TreeSnapshot, after: TreeSnapshot): TreeChanges {
  if (before.fingerprint === after.fingerprint) return { added: [], modified: [], deleted: [] }
  const paths = [...after.files.keys()]
  return {
    added: paths.filter(path => !before.files.has(path)),
    modified: paths.filter(path => before.files.has(path) && before.files.get(path) !== after.files.get(path)),
    deleted: [...before.files.keys()].filter(path => !after.files.has(path)),
  }
}

/**
 * Unified diff of the changed files, at most `maxBytes`. The old side is the last commit, so uncommitted work of earlier tasks on the
 * same files shows too. Where git has no old side (no repository, never committed) a changed file is shown whole and a deleted one named.
 */
export async function unifiedDiff(workspace: Workspace, changes: TreeChanges, options: { readonly maxBytes: number }): Promise<string> {
  const touched = [...changes.modified, ...changes.deleted, ...changes.added].slice(0, MAX_PATHS)
  if (touched.length === 0) return ''
  const fromGit = await gitDiff(workspace.root, touched, options.maxBytes)
  const parts = [fromGit.text, ...changes.deleted.filter(path => !fromGit.shown(path)).map(path => `# deleted: ${path}\n`)]
  let bytes = Buffer.byteLength(parts.join(''))
  for (const path of [...changes.modified, ...changes.added].slice(0, MAX_PATHS).filter(candidate => !fromGit.shown(candidate))) {
    if (bytes > options.maxBytes) break
    const note = changes.added.includes(path) ? 'new file' : '# changed; shown whole, since no earlier version is known'
    const text = await wholeFileDiff(workspace.root, path, note)
    bytes += Buffer.byteLength(text)
    parts.push(text)
  }
  return cut(parts.join(''), options.maxBytes)
}

interface GitDiff {
  readonly text: string
  readonly shown: (path: string) => boolean
}

async function gitDiff(root: string, paths: readonly string[], maxBytes: number): Promise<GitDiff> {
  const args = [
    '--literal-pathspecs', 'diff', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames',
    '--relative', '--src-prefix=a/', '--dst-prefix=b/', '--ignore-submodules=all', 'HEAD', '--', ...paths,
  ]
  const result = await runGit(args, { cwd: root, timeoutMs: DIFF_TIMEOUT_MS, maxBytes: maxBytes + 1 })
  const usable = result.kind === 'too-large' || (result.kind === 'exited' && result.code === 0)
  if (!usable) return { text: '', shown: () => false }
  const text = result.stdout.toString('utf8')
  const headers = new Set(text.match(/^diff --git a\/.* b\/.*$/gmu) ?? [])
  return { text, shown: path => result.kind === 'too-large' || headers.has(`diff --git a/${path} b/${path}`) }
}

async function wholeFileDiff(root: string, path: string, note: string): Promise<string> {
  const content = await readBounded(join(root, path))
  if (content === null) return `# not shown (a link, binary, too long or unreadable): ${path}\n`
  const lines = content.split('\n')
  const ended = lines.at(-1) === ''
  const shown = ended ? lines.slice(0, -1) : lines
  const head = `diff --git a/${path} b/${path}\n${note}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${shown.length} @@\n`
  return `${head}${shown.map(line => `+${line}\n`).join('')}${ended || content === '' ? '' : '\\ No newline at end of file\n'}`
}

async function readBounded(path: string): Promise<string | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const buffer = Buffer.alloc(MAX_WHOLE_FILE_BYTES + 1)
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
      const content = buffer.subarray(0, bytesRead)
      return bytesRead > MAX_WHOLE_FILE_BYTES || content.includes(0) ? null : content.toString('utf8')
    } finally {
      await handle.close()
    }
  } catch {
    // A link, or gone since the snapshot: it is named instead.
    return null
  }
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const kept = bytes.subarray(0, maxBytes).toString('utf8')
  return `${kept.slice(0, kept.lastIndexOf('\n') + 1)}# cut: ${bytes.length - maxBytes} bytes or more are not shown\n`
}
