/**
 * Runs one check as a plain child and turns its end into evidence. Owns the log file's name and the evidence's text caps.
 * A package script whose text, or the settings it is run by, changed since it was pinned runs as it was pinned, and the reason says so.
 */
import { randomUUID } from 'node:crypto'
import { delimiter, join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Check, Evidence } from '../core/evidence-types.ts'
import { gradeCheck, type CheckFacts } from './grade.ts'
import { scriptText, type ProjectScripts } from './package-scripts.ts'
import type { PlainChildRequest, RunPlain } from './ports.ts'

export interface CheckDeps {
  readonly runPlain: RunPlain
  readonly redact: (text: string) => string
  /** The complete environment of checks. */
  readonly env: Readonly<Record<string, string>>
  readonly killGraceMs: number
  readonly markerName: string
}

export interface CheckRun {
  readonly check: Check
  readonly key: string
  readonly cwd: string
  readonly workspaceRoot: string
  /** The manifest as it is now. */
  readonly project: ProjectScripts
  /** Absolute. */
  readonly logFile: string
  readonly runDir: string
  readonly signal: AbortSignal
}

const LOG_MAX_BYTES = 8 * 1024 * 1024
/** Enough for the summary of any runner; only the last part of it is kept as evidence. */
const GRADED_BYTES = 256 * 1024
const TAIL_MAX_BYTES = 4096

const NOTHING_RAN: CheckFacts = { exitCode: null, signal: null, timedOut: false, spawnError: null, output: '' }

/** Rejects with the signal's reason when aborted; anything else is evidence. */
export async function runCheck(deps: CheckDeps, run: CheckRun): Promise<Evidence> {
  const { check } = run
  if (check.argv === null) return evidenceOf(run, NOTHING_RAN, 0, null, '')
  const changed = isRewritten(check, run.project)
  const result = await deps.runPlain(requestOf(deps, run, check.argv, changed))
  if (result.aborted) run.signal.throwIfAborted()
  const { exitCode, signal, timedOut, spawnError } = result
  const logPath = spawnError === null && result.logError === null ? relative(run.runDir, run.logFile) : null
  const note = changed ? '; package.json or the settings of the package manager changed, the pinned script was run' : ''
  return evidenceOf(run, { exitCode, signal, timedOut, spawnError, output: result.tail }, result.durationMs, logPath, note)
}

function requestOf(deps: CheckDeps, run: CheckRun, argv: readonly string[], changed: boolean): PlainChildRequest {
  const { check, cwd } = run
  const command = changed && check.pinned !== undefined ? { commandLine: check.pinned } : { argv }
  const path = `${join(cwd, 'node_modules', '.bin')}${delimiter}${deps.env['PATH'] ?? ''}`
  return {
    command,
    cwd,
    env: { ...deps.env, ...(changed ? { PATH: path } : {}), npm_config_update_notifier: 'false' },
    timeoutMs: check.timeoutMs,
    logFile: run.logFile,
    maxBytes: LOG_MAX_BYTES,
    tailBytes: GRADED_BYTES,
    marker: { name: deps.markerName, value: randomUUID() },
    workspaceRoot: run.workspaceRoot,
    killGraceMs: deps.killGraceMs,
    redact: deps.redact,
    signal: run.signal,
  }
}

function isRewritten(check: Check, project: ProjectScripts): boolean {
  const name = check.argv?.at(-1)
  return check.pinned !== undefined && name !== undefined && scriptText(name, project) !== check.scriptText
}

function evidenceOf(run: CheckRun, facts: CheckFacts, durationMs: number, logPath: string | null, note: string): Evidence {
  const { check, key } = run
  const graded = gradeCheck(check, facts)
  return {
    key,
    check: check.name,
    role: check.role,
    required: check.required,
    command: check.display,
    grade: graded.grade,
    reason: `${graded.reason}${note}`,
    exitCode: facts.exitCode,
    signal: facts.signal,
    durationMs,
    tests: graded.tests,
    logPath,
    tail: lastLines(stripVTControlCharacters(facts.output)),
    cached: false,
  }
}

/** At most `TAIL_MAX_BYTES`, from the start of a line where one begins in reach. */
function lastLines(text: string): string {
  const bytes = Buffer.from(text.trimEnd())
  if (bytes.length <= TAIL_MAX_BYTES) return bytes.toString('utf8')
  const end = bytes.subarray(-TAIL_MAX_BYTES)
  const newline = end.indexOf(10)
  const start = newline < 0 || newline > TAIL_MAX_BYTES / 2 ? end.findIndex(byte => (byte & 0xC0) !== 0x80) : newline + 1
  return end.subarray(start).toString('utf8')
}
