/**
 * Where the durable things of a repository live (SEMANTICS 8): the state root, the folder of a repository, its runs.
 * Owns names and creation. Does not own what is inside a run, nor the lock.
 */
import { createHash } from 'node:crypto'
import { lstat, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { OpenClaudeError } from '../../errors.ts'
import { writeFileDurable } from './durable-file.ts'
import { findGitCommonDir } from './git-common-dir.ts'
import { ensurePrivateFolder, ensureStateRoot } from './private-folder.ts'

export interface RepositoryPlace {
  /** `<stateDir>/<slug>-<key>`. */
  readonly dir: string
  /** 12 hex digits: linked worktrees of one repository share it, two clones do not. */
  readonly key: string
  /** Real path of the work directory. */
  readonly workdir: string
  /** Real path of the git common directory; null without git. */
  readonly commonDir: string | null
  readonly lockPath: string
  readonly controlDir: string
  readonly evidenceDir: string
  readonly runsDir: string
}

/**
 * The state root as an absolute path.
 * @param chosen from the configuration; empty = `$XDG_STATE_HOME/dsh-openclaude`, else `~/.local/state/dsh-openclaude`.
 */
export function resolveStateDir(chosen: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (chosen !== '') {
    if (isAbsolute(chosen)) return join(chosen)
    throw new OpenClaudeError('OC_STATE_DIR', `stateDir must be an absolute path, but is ${JSON.stringify(chosen)}.`, { subject: chosen, fix: 'Give an absolute path.' })
  }
  const xdg = env['XDG_STATE_HOME']
  // The XDG rules say that a relative value is to be ignored.
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), '.local', 'state'), 'dsh-openclaude')
}

/** Where the state of the repository around `workdir` is or would be. Creates nothing: for status and report. */
export async function locateRepository(stateDir: string, workdir: string): Promise<RepositoryPlace> {
  const real = await realWorkdir(workdir)
  const commonDir = await findGitCommonDir(real)
  const source = commonDir ?? real
  const key = createHash('sha256').update(source).digest('hex').slice(0, 12)
  const root = await realpath(stateDir).catch(() => stateDir)
  const dir = join(root, `${slugOf(commonDir) ?? slugOf(real) ?? 'repository'}-${key}`)
  return {
    dir, key, workdir: real, commonDir,
    lockPath: join(dir, 'lock'), controlDir: join(dir, 'control'), evidenceDir: join(dir, 'evidence'), runsDir: join(dir, 'runs'),
  }
}

/** Locates, creates what is missing and proves that it is ours and writable. Call it before anything starts: its errors are OC_STATE_DIR (F7). */
export async function openRepository(stateDir: string, workdir: string): Promise<RepositoryPlace> {
  const root = await ensureStateRoot(stateDir, await realWorkdir(workdir))
  const place = await locateRepository(root, workdir)
  for (const folder of [place.dir, place.controlDir, place.evidenceDir, place.runsDir]) await ensurePrivateFolder(folder)
  await describeRepository(place)
  return place
}

/** `repo.json` tells a person which repository a key stands for. Written once. */
async function describeRepository(place: RepositoryPlace): Promise<void> {
  const path = join(place.dir, 'repo.json')
  if (await lstat(path).then(() => true, () => false)) return
  const { key, workdir, commonDir } = place
  try {
    await writeFileDurable(path, `${JSON.stringify({ key, workdir, commonDir }, null, 2)}\n`)
  } catch (cause) {
    throw new OpenClaudeError('OC_STATE_DIR', `${path} can't be written: ${cause instanceof Error ? cause.message : String(cause)}.`, {
      subject: path, fix: 'Choose another folder with --state-dir, or make this one writable.', cause,
    })
  }
}

export async function realWorkdir(workdir: string): Promise<string> {
  const invalid = (why: string, cause?: unknown): OpenClaudeError =>
    new OpenClaudeError('OC_WORKDIR_INVALID', `The work directory ${workdir} ${why}.`, { subject: workdir, fix: 'Give an existing folder with --workdir.', cause })
  try {
    const real = await realpath(workdir)
    if ((await stat(real)).isDirectory()) return real
  } catch (error) {
    throw invalid('does not exist or can not be read', error)
  }
  throw invalid('is no directory')
}

/** The name of the folder that holds `.git`, or of a bare repository, as far as it is plain. */
function slugOf(path: string | null): string | null {
  if (path === null) return null
  const name = basename(path) === '.git' ? basename(dirname(path)) : basename(path)
  const slug = name.replace(/\.git$/, '').replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '').slice(0, 40)
  return slug === '' ? null : slug
}
