/**
 * Reads the process table: /proc on Linux, `ps` elsewhere (written for macOS, untested there).
 * Owns the raw rows only; identity, trees and sweeps are built on them. Never sends a signal.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface ProcessRow {
  readonly pid: number
  readonly ppid: number
  /** One letter as in /proc: R, S, D, T, t, Z, X. */
  readonly state: string
  /** 0 = no controlling terminal. */
  readonly tty: number
  /** User and system time of the process and of the children it has waited for. */
  readonly cpuTicks: number
  /** Start time in clock ticks since boot; the start date where only `ps` is there. */
  readonly startTicks: string
}

export const HAS_PROC = existsSync('/proc/self/stat')

/** @returns null when no such process exists. A zombie has a row. */
export function readProcess(pid: number): ProcessRow | null {
  if (!HAS_PROC) return readPs(['-p', String(pid)])[0] ?? null
  const stat = readProcFile(pid, 'stat')
  return stat === null ? null : parseStat(stat.toString('latin1'))
}

export function listProcesses(): readonly ProcessRow[] {
  if (!HAS_PROC) return readPs(['-A'])
  const rows: ProcessRow[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const row = readProcess(Number(name))
    if (row !== null) rows.push(row)
  }
  return rows
}

/** State Z or X: the process has ended, only its parent has not waited for it. */
export function isDead(row: ProcessRow): boolean {
  return row.state === 'Z' || row.state === 'X'
}

/** The environment a process was started with, as `NAME=value` entries between NUL bytes; null when it can't be read. */
export function readEnviron(pid: number): Buffer | null {
  return HAS_PROC ? readProcFile(pid, 'environ') : null
}

/** Absolute working directory; null when it can't be read. */
export function readCwd(pid: number): string | null {
  if (!HAS_PROC) return null
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // Gone, or of another user: either way nothing is known of it.
    return null
  }
}

function readProcFile(pid: number, name: string): Buffer | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`)
  } catch {
    // ENOENT or ESRCH: gone meanwhile. EACCES: of another user.
    return null
  }
}

/** The second field is the program name in parentheses and may itself hold spaces and parentheses. */
function parseStat(stat: string): ProcessRow | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, , , tty] = fields
  const startTicks = fields[19]
  if (state === undefined || startTicks === undefined) return null
  const cpuTicks = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
  return { pid: Number.parseInt(stat, 10), ppid: Number(ppid), state, tty: Number(tty), cpuTicks, startTicks }
}

function readPs(selection: readonly string[]): readonly ProcessRow[] {
  const { stdout } = spawnSync('ps', [...selection, '-o', 'pid=,ppid=,stat=,tty=,lstart='], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, ppid, state, tty, startTicks] = /^\s*(\d+)\s+(\d+)\s+(\S)\S*\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? []
    if (pid === undefined || state === undefined || startTicks === undefined) return []
    return [{ pid: Number(pid), ppid: Number(ppid), state, tty: tty?.startsWith('?') === true ? 0 : 1, cpuTicks: 0, startTicks }]
  })
}
