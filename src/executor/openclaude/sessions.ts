/**
 * Removes session files that OpenClaude stored for sessions of ours: `<config dir>/projects/<folder>/<session>…`.
 * Touches only names that start with an id we minted; never a folder of a project.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isCode } from '../keeper/launch-files.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** OpenClaude's configuration folder as the child sees it. */
export function sessionStore(env: Readonly<Record<string, string | undefined>>): string | null {
  const moved = env['OPENCLAUDE_CONFIG_DIR']
  if (moved !== undefined && moved !== '') return moved
  const home = env['HOME']
  return home === undefined || home === '' ? null : join(home, '.openclaude')
}

/** Every project folder is looked at, because OpenClaude shortens long folder names by a hash of its own. Returns the number of removed entries. */
export async function removeSessions(store: string, sessionIds: readonly string[]): Promise<number> {
  const minted = new Set(sessionIds.filter(id => UUID.test(id)))
  if (minted.size === 0) return 0
  let removed = 0
  const projects = join(store, 'projects')
  for (const project of await entries(projects)) {
    for (const name of await entries(join(projects, project))) {
      const [id = ''] = name.split('.', 1)
      if (!minted.has(id)) continue
      await rm(join(projects, project, name), { recursive: true, force: true })
      removed += 1
    }
  }
  return removed
}

async function entries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return []
    throw error
  }
}
