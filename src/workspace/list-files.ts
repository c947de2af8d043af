/**
 * Which paths belong to a work tree. Inside a git work tree: what git tracks or would track; elsewhere an own walk that leaves out
 * repositories' own data, installed packages and tool caches. Reads no file content.
 */
import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { OpenClaudeError } from '../errors.ts'
import { runGit, type GitOptions, type GitResult } from './git.ts'

export interface ListedPath {
  /** Relative, forward slashes; bytes that are no UTF-8 are written as `\xNN`. */
  readonly name: string
  /** What the file system wants to be asked. */
  readonly path: string | Buffer
}

export type TreeMode = 'git' | 'walk'

const LIST_TIMEOUT_MS = 60_000
const LIST_MAX_BYTES = 256 * 1024 * 1024
const MAX_PATHS = 1_000_000

/** Folders that hold no work: version control, installed packages, caches that tools write beside the sources. */
const UNLISTED_FOLDERS: ReadonlySet<string> = new Set([
  '.git', '.hg', '.svn', 'node_modules', '__pycache__', '.venv', '.cache', '.pytest_cache', '.mypy_cache', '.ruff_cache', '.tox',
  '.turbo', '.parcel-cache', '.gradle', '.nyc_output', '.DS_Store',
])

/** `walk` also where the folder itself is ignored by an enclosing repository: git would list nothing there. */
export async function detectTreeMode(root: string): Promise<TreeMode> {
  const options: GitOptions = { cwd: root, timeoutMs: LIST_TIMEOUT_MS, maxBytes: 64 * 1024 }
  const inside = await runGit(['rev-parse', '--is-inside-work-tree'], options)
  if (inside.kind !== 'exited' || inside.code !== 0 || inside.stdout.toString('utf8').trim() !== 'true') return 'walk'
  const ignored = await runGit(['check-ignore', '-q', '--', '.'], options)
  return ignored.kind === 'exited' && ignored.code === 0 ? 'walk' : 'git'
}

/** Returns null when git no longer knows the folder as a work tree; throws when git itself fails. */
export async function listByGit(root: string): Promise<readonly ListedPath[] | null> {
  const options: GitOptions = { cwd: root, timeoutMs: LIST_TIMEOUT_MS, maxBytes: LIST_MAX_BYTES }
  const result = await runGit(['ls-files', '-co', '--exclude-standard', '-z'], options)
  if (result.kind === 'exited' && result.code === 128) return null
  if (result.kind !== 'exited' || result.code !== 0) {
    throw new OpenClaudeError('OC_WORKDIR_INVALID', `The files of ${root} could not be listed: ${describeFailure(result)}`, {
      subject: root, fix: 'Run `git ls-files -co --exclude-standard` there and repair what it reports.',
    })
  }
  const names = splitNul(result.stdout)
  const listed: ListedPath[] = []
  for (const entry of names) {
    if (!entry.name.endsWith('/')) listed.push(entry)
    // A repository inside the tree: git names only its folder, its files are still work.
    else if (typeof entry.path === 'string') listed.push(...await listByWalk(root, entry.path.slice(0, -1)))
  }
  return dedupe(listed)
}

function describeFailure(result: GitResult): string {
  if (result.kind === 'exited') return `git ended with ${result.code}: ${result.stderr.trim()}`
  return result.kind === 'unavailable' ? result.message : `git ls-files was ${result.kind}`
}

/** Files and symbolic links below `root` (or below `root/from`), depth first, links not followed, unreadable folders left out. */
export async function listByWalk(root: string, from = ''): Promise<readonly ListedPath[]> {
  const found: ListedPath[] = []
  const folders = [from]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readFolder(join(root, folder))) {
      if (UNLISTED_FOLDERS.has(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile() || entry.isSymbolicLink()) found.push({ name: path, path })
    }
    if (found.length > MAX_PATHS) {
      throw new OpenClaudeError('OC_WORKDIR_INVALID', `${root} holds more than ${MAX_PATHS} files`, {
        subject: root, fix: 'Make it a git repository that ignores generated files.',
      })
    }
  }
  return found
}

async function readFolder(path: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true })
  } catch {
    // Unreadable, or gone since its parent was read: nothing in it can be part of the snapshot.
    return []
  }
}

function dedupe(paths: readonly ListedPath[]): readonly ListedPath[] {
  return [...new Map(paths.map(entry => [entry.name, entry])).values()]
}

function splitNul(bytes: Buffer): readonly ListedPath[] {
  if (isUtf8(bytes)) return bytes.toString('utf8').split('\0').filter(name => name !== '').map(name => ({ name, path: name }))
  const entries: ListedPath[] = []
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0, start)
    const raw = bytes.subarray(start, end < 0 ? bytes.length : end)
    const text = raw.toString('utf8')
    if (raw.length > 0) entries.push(isUtf8(raw) ? { name: text, path: text } : { name: escapeBytes(raw), path: raw })
    start += raw.length + 1
  }
  return entries
}

function escapeBytes(raw: Buffer): string {
  return [...raw].map(byte => byte < 0x80 ? String.fromCodePoint(byte) : `\\x${byte.toString(16).padStart(2, '0')}`).join('')
}
