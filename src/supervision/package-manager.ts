/**
 * Which package manager runs a project's scripts. Precedence: the configured one; the manifest's `packageManager` field;
 * a lockfile, looked for in the work directory and then upwards to the top of the repository; npm.
 * Of several lockfiles the order of `LOCKFILES` decides, and a warning names them.
 */
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ResolvedConfig } from '../core/config-types.ts'

export type PackageManager = Exclude<ResolvedConfig['packageManager'], ''>

export interface ChosenManager {
  readonly manager: PackageManager
  readonly warnings: readonly string[]
}

/** Managers that must be asked for come first: an npm lockfile is what a forgotten `npm install` leaves behind. */
const LOCKFILES: readonly (readonly [string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['npm-shrinkwrap.json', 'npm'],
  ['package-lock.json', 'npm'],
]

const MANAGERS: readonly PackageManager[] = ['pnpm', 'yarn', 'bun', 'npm']

export async function choosePackageManager(
  workdir: string, configured: ResolvedConfig['packageManager'], field: string | null,
): Promise<ChosenManager> {
  if (configured !== '') return { manager: configured, warnings: [] }
  const found = await findLockfiles(workdir)
  const managers = [...new Set(found.map(([, manager]) => manager))]
  const named = MANAGERS.find(manager => field === manager || field?.startsWith(`${manager}@`) === true)
  const manager = named ?? managers[0] ?? 'npm'
  const reason = named === undefined ? 'the order pnpm, yarn, bun, npm decides' : 'the packageManager field of package.json decides'
  const warning = `Lockfiles of several package managers: ${found.map(([name]) => name).join(', ')}; using ${manager} (${reason}). `
    + 'Remove the stale ones, or set packageManager.'
  return { manager, warnings: managers.length > 1 ? [warning] : [] }
}

/** The lockfiles of the nearest folder that has any, from the work directory up to the top of its repository. */
async function findLockfiles(workdir: string): Promise<readonly (readonly [string, PackageManager])[]> {
  for (const names of await namesToTop(workdir)) {
    const found = LOCKFILES.filter(([name]) => names.has(name))
    if (found.length > 0) return found
  }
  return []
}

/** What is in the work directory, and in each folder above it up to the top of its repository; without a repository the work directory alone. */
async function namesToTop(workdir: string): Promise<readonly ReadonlySet<string>[]> {
  const own = await namesIn(workdir)
  const all = [own]
  let folder = workdir
  for (let names = own; !names.has('.git'); all.push(names)) {
    if (dirname(folder) === folder) return [own]
    folder = dirname(folder)
    names = await namesIn(folder)
  }
  return all
}

async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  try {
    return new Set(await readdir(folder))
  } catch {
    // Absent, or not ours to see: either way it can't decide.
    return new Set()
  }
}
