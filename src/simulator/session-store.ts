/**
 * Conversations on disk, where OpenClaude keeps them: <config dir>/projects/<cwd, every non-alphanumeric as ->/<session>.jsonl.
 * Owns the layout and the append; knows nothing of records on stdout.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SimEnv } from './scenario-source.ts'

export interface StoredTotals {
  readonly costUsd: number
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface SessionFile {
  readonly append: (entry: Readonly<Record<string, unknown>>) => void
  /** Written at the end of a run, for setups whose cost covers the whole session. */
  readonly saveTotals: (totals: StoredTotals) => void
  readonly remove: () => void
}

const NO_TOTALS: StoredTotals = { costUsd: 0, inputTokens: 0, outputTokens: 0 }

function configDir(env: SimEnv): string {
  return env['OPENCLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '/', '.openclaude')
}

export function projectDir(env: SimEnv, cwd: string): string {
  return join(configDir(env), 'projects', cwd.replaceAll(/[^A-Za-z0-9]/gu, '-'))
}

export function isStored(folder: string, sessionId: string): boolean {
  return existsSync(join(folder, `${sessionId}.jsonl`))
}

/** Id of the session of this folder that was written last; null = none. */
export function lastSession(folder: string): string | null {
  if (!existsSync(folder)) return null
  const files = readdirSync(folder).filter(name => name.endsWith('.jsonl'))
  const newest = files.map(name => ({ name, at: statSync(join(folder, name)).mtimeMs })).toSorted((a, b) => b.at - a.at)[0]
  return newest === undefined ? null : newest.name.slice(0, -'.jsonl'.length)
}

export function readHistory(folder: string, sessionId: string): string {
  const path = join(folder, `${sessionId}.jsonl`)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

export function readTotals(folder: string, sessionId: string): StoredTotals {
  const path = join(folder, `${sessionId}.replay.json`)
  if (!existsSync(path)) return NO_TOTALS
  const stored = JSON.parse(readFileSync(path, 'utf8')) as { readonly totals?: StoredTotals }
  return stored.totals ?? NO_TOTALS
}

/** `stored: false` gives a file that takes nothing. `history` seeds a fork. */
export function openSession(folder: string, sessionId: string, options: { readonly stored: boolean, readonly history: string }): SessionFile {
  if (!options.stored) return { append: () => undefined, saveTotals: () => undefined, remove: () => undefined }
  const path = join(folder, `${sessionId}.jsonl`)
  const replay = join(folder, `${sessionId}.replay.json`)
  mkdirSync(folder, { recursive: true })
  if (!existsSync(path) && options.history !== '') writeFileSync(path, options.history)
  return {
    append: entry => appendFileSync(path, `${JSON.stringify({ ...entry, sessionId })}\n`),
    saveTotals: totals => writeFileSync(replay, JSON.stringify({ sessionId, totals })),
    remove: () => {
      rmSync(path, { force: true })
      rmSync(replay, { force: true })
    },
  }
}
