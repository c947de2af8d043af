/**
 * Folders that only we may read and that nobody can turn elsewhere: created 0700, owned by us, no symbolic link on the way that
 * others, or the children in their work tree, could have put there. Every failure is OC_STATE_DIR, before anything starts (F7).
 */
import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { access, chmod, lstat, mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, parse, relative, sep } from 'node:path'
import { OpenClaudeError } from '../../errors.ts'

const ROOT_UID = 0
const OTHERS = 0o077

/**
 * Creates `path` and its parents where they are missing, and returns its real path. A folder that exists keeps its mode.
 * @param untrusted absolute real path of the work tree: symbolic links inside it are refused, since children may write there.
 */
export async function ensureStateRoot(path: string, untrusted: string): Promise<string> {
  for (const part of ancestry(path)) {
    const stats = await lookAt(part)
    // Part by part: a recursive mkdir spins for ever where the kernel answers ENOENT below an existing folder, as /proc does.
    if (stats === null) await makeFolder(part)
    else if (stats.isSymbolicLink()) await refuseForeignLink(part, { stats, untrusted })
  }
  const real = await attempt(path, 'be found', () => realpath(path))
  await requireOurs(real)
  return real
}

/** Creates `path` below a folder that was already proved, or proves that it is a private folder of ours and no link; a wider mode is narrowed. */
export async function ensurePrivateFolder(path: string): Promise<void> {
  await makeFolder(path)
  const stats = await requireOurs(path)
  if ((stats.mode & OTHERS) !== 0) await attempt(path, 'be made private', () => chmod(path, 0o700))
}

/** Something that exists is left to the checks that follow: another engine may have created the folder just now. */
async function makeFolder(path: string): Promise<void> {
  await attempt(path, 'be created', () => mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  }))
}

async function requireOurs(path: string): Promise<Stats> {
  const stats = await attempt(path, 'be read', () => lstat(path))
  if (stats.isSymbolicLink()) throw refused(path, 'is a symbolic link, which could lead anywhere', 'Remove the link.')
  if (!stats.isDirectory()) throw refused(path, 'is no folder', 'Remove it, or choose another --state-dir.')
  const uid = process.geteuid?.() ?? stats.uid
  if (stats.uid !== uid) throw refused(path, `belongs to user ${stats.uid}, and this is user ${uid}`, 'Choose a --state-dir of your own, or change its owner.')
  await attempt(path, 'be written', () => access(path, constants.R_OK | constants.W_OK | constants.X_OK))
  return stats
}

async function lookAt(path: string): Promise<Stats | null> {
  try {
    return await lstat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw unusable(path, 'be read', error)
  }
}

/** A link is followed only where root or we made it and no child could have. */
async function refuseForeignLink(link: string, { stats, untrusted }: { readonly stats: Stats, readonly untrusted: string }): Promise<void> {
  const place = join(await realpath(dirname(link)), basename(link))
  if (isInside(place, untrusted)) throw refused(link, 'is a symbolic link inside the work tree, where children can change it', 'Choose a --state-dir outside of the work tree.')
  if (stats.uid !== ROOT_UID && stats.uid !== process.geteuid?.()) throw refused(link, `is a symbolic link that user ${stats.uid} made`, 'Choose another --state-dir.')
}

/** `/a`, `/a/b`, `/a/b/c`. */
function ancestry(path: string): readonly string[] {
  const { root } = parse(path)
  const names = path.slice(root.length).split(sep).filter(name => name !== '')
  return names.map((_, index) => join(root, ...names.slice(0, index + 1)))
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep))
}

async function attempt<T>(path: string, what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw unusable(path, what, error)
  }
}

function unusable(path: string, what: string, cause: unknown): OpenClaudeError {
  const fix = 'Choose another folder with --state-dir, or make this one writable.'
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new OpenClaudeError('OC_STATE_DIR', `State folder ${path} can't ${what}: ${reason}. ${fix}`, { subject: path, fix, cause })
}

function refused(path: string, why: string, fix: string): OpenClaudeError {
  return new OpenClaudeError('OC_STATE_DIR', `State folder ${path} ${why}. ${fix}`, { subject: path, fix })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
