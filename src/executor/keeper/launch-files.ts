/**
 * The files of a launch directory: their names, how they are written, how they are read back.
 * `launch.json` and `exit.json` appear whole or not at all. `claim` is a symbolic link, made by one atomic call that also carries who made it.
 */
import { closeSync, fsyncSync, openSync, readFileSync, readlinkSync, renameSync, symlinkSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ProcessIdentity, SpawnFailure } from '../../core/attempt-types.ts'
import type { Origin } from '../process/identity.ts'
import type { LaunchExit } from './launch-types.ts'

export const LAUNCH_FILES = {
  spec: 'spec.json',
  claim: 'claim',
  launch: 'launch.json',
  stdout: 'stdout.ndjson',
  stderr: 'stderr.log',
  exit: 'exit.json',
  keeperLog: 'keeper.log',
} as const

/** What is on disk of a launch request: names of environment variables, never their values; no prompt. */
export interface SpecFile {
  readonly v: 1
  readonly origin: Origin
  readonly argv: readonly string[]
  readonly cwd: string
  readonly workspaceRoot: string
  readonly envNames: readonly string[]
  readonly marker: { readonly name: string, readonly value: string }
  readonly limits: { readonly maxStreamBytes: number, readonly maxRuntimeMs: number, readonly killGraceMs: number }
  readonly onEngineDeath: 'adopt' | 'end'
}

export interface LaunchFile {
  readonly v: 1
  readonly keeper: ProcessIdentity
  /** Null until the spawn has returned. */
  readonly child: ProcessIdentity | null
  /** Value of `oom_score_adj` that only this launch's processes inherited; null where it could not be set. */
  readonly tag: number | null
}

export type ExitFile =
  | { readonly v: 1, readonly kind: 'exit' } & LaunchExit
  | { readonly v: 1, readonly kind: 'spawn-failed', readonly failure: SpawnFailure }

export type Claimant = 'keeper' | 'engine'

/** Writes a file that is whole at any instant, 0600. `durable` also survives a power loss. */
export function writeWhole(path: string, value: SpecFile | LaunchFile | ExitFile, durable: 'durable' | 'fast'): void {
  const temp = `${path}.${process.pid}.tmp`
  const fd = openSync(temp, 'w', 0o600)
  try {
    writeSync(fd, `${JSON.stringify(value)}\n`)
    if (durable === 'durable') fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(temp, path)
  if (durable === 'durable') syncFolder(dirname(path))
}

/**
 * Decides whether a child may start in this directory. Whoever comes first wins, once and for all.
 * @returns the winner: `who` itself, or the earlier claimant.
 */
export function claimLaunch(dir: string, who: Claimant): Claimant {
  const path = join(dir, LAUNCH_FILES.claim)
  try {
    symlinkSync(who, path)
    return who
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
    return readlinkSync(path) === 'keeper' ? 'keeper' : 'engine'
  }
}

export function readSpecFile(dir: string): SpecFile | null {
  return readWhole<SpecFile>(join(dir, LAUNCH_FILES.spec))
}

export function readLaunchFile(dir: string): LaunchFile | null {
  return readWhole<LaunchFile>(join(dir, LAUNCH_FILES.launch))
}

export function readExitFile(dir: string): ExitFile | null {
  return readWhole<ExitFile>(join(dir, LAUNCH_FILES.exit))
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Absent, unreadable and damaged are one case: the file tells nothing. Renaming makes a half-written one impossible short of disk damage. */
function readWhole<T extends { readonly v: 1 }>(path: string): T | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null && 'v' in value && value.v === 1 ? value as T : null
  } catch {
    // ENOENT is the usual case while a launch runs; anything else leaves the launch without that fact, which the callers handle as absence.
    return null
  }
}

function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
