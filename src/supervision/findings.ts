/**
 * What a person should know beside the checks: what the child claims against what the tree shows, and where it went.
 * Compares; never judges. The one look at the disk is for claimed files that the tree does not list, since ignored files can exist.
 */
import { lstat } from 'node:fs/promises'
import { isAbsolute, join, posix, relative } from 'node:path'
import picomatch from 'picomatch'
import type { AttemptOutcome } from '../core/attempt-types.ts'
import type { Finding } from '../core/evidence-types.ts'
import type { TaskSpec } from '../core/graph-types.ts'
import type { TreeSnapshot, Workspace } from '../workspace/workspace.ts'

export interface FindingsInput {
  readonly task: Pick<TaskSpec, 'paths' | 'mayEdit'>
  readonly workspace: Pick<Workspace, 'root' | 'cwd'>
  readonly before: TreeSnapshot
  readonly after: TreeSnapshot
  readonly outcome: Pick<AttemptOutcome, 'report' | 'result'>
  readonly agent: boolean
}

const MAX_FILES = 100

export async function collectFindings(input: FindingsInput): Promise<readonly Finding[]> {
  const { outcome, agent } = input
  const changed = changedPaths(input.before, input.after)
  const report = outcome.report
  return [
    ...(report.kind === 'present' ? await claimFindings(input, changed, report.files) : []),
    ...(report.kind === 'absent' && agent ? [finding('report-absent', 'The final text has no report block', [])] : []),
    ...outsideFindings(input, changed),
    ...denialFindings(outcome),
  ]
}

function changedPaths(before: TreeSnapshot, after: TreeSnapshot): readonly string[] {
  const paths = new Set([...before.files.keys(), ...after.files.keys()])
  return [...paths].filter(path => before.files.get(path) !== after.files.get(path)).toSorted()
}

async function claimFindings(input: FindingsInput, changed: readonly string[], claims: readonly string[]): Promise<readonly Finding[]> {
  const { before, after } = input
  const prefix = relative(input.workspace.root, input.workspace.cwd)
  const claimed = [...new Set(claims.map(claim => claimedPath(claim, input.workspace)).filter(path => path !== null))]
  const covers = claimed.map(path => ({ path, matches: coverage(path, prefix) }))
  const absent: string[] = []
  const unchanged: string[] = []
  for (const { path, matches } of covers) {
    if (changed.some(matches)) continue
    if ([...after.files.keys()].some(matches)) unchanged.push(path)
    else if (!before.files.has(path) && !await isOnDisk(input.workspace, path)) absent.push(path)
  }
  const unclaimed = changed.filter(path => !covers.some(({ matches }) => matches(path)))
  return [
    finding('claimed-absent', 'The report names files that do not exist', absent),
    finding('claimed-unchanged', 'The report names files that did not change', unchanged),
    finding('changed-unclaimed', 'Files changed that the report does not name', unclaimed),
  ].filter(({ files }) => files.length > 0)
}

/** A claim covers a path when it is that path (from the root or from the working directory), a folder above it, or a glob for it. */
function coverage(claim: string, prefix: string): (path: string) => boolean {
  const names = [claim, posix.join(prefix, claim)]
  const isGlob = picomatch.scan(claim).isGlob ? picomatch(names, { dot: true }) : () => false
  return path => names.some(name => path === name || path.startsWith(`${name}/`)) || isGlob(path)
}

/** Reports are prose: quotes, list marks, remarks in brackets and line numbers are taken off. Null = no path. */
function claimedPath(claim: string, workspace: Pick<Workspace, 'root' | 'cwd'>): string | null {
  const bare = claim.trim()
    .replace(/^[-*•]\s+/u, '')
    .replace(/\s+[-–—(:].*$/su, '')
    .replaceAll(/^[`'"]+|[`'",.;]+$/gu, '')
    .replace(/(?<=\w):\d+(?:[-:]\d+)?$/u, '')
    .trim()
  if (bare === '' || /^(?:none|n\/a|no files?(?: changed)?)$/iu.test(bare)) return null
  const inside = isAbsolute(bare) ? relative(workspace.root, bare) : bare
  const normal = posix.normalize(inside).replace(/\/$/u, '')
  return normal === '.' ? null : normal
}

async function isOnDisk(workspace: Pick<Workspace, 'root' | 'cwd'>, path: string): Promise<boolean> {
  const seen = await Promise.all([workspace.root, workspace.cwd].map(async folder => {
    try {
      await lstat(join(folder, path))
      return true
    } catch {
      // Not there, or not ours to see: not proved.
      return false
    }
  }))
  return seen.includes(true)
}

function outsideFindings(input: FindingsInput, changed: readonly string[]): readonly Finding[] {
  const { paths, mayEdit = [] } = input.task
  if (paths === undefined) return []
  const prefix = relative(input.workspace.root, input.workspace.cwd)
  const allowed = [...paths, ...mayEdit].map(glob => coverage(posix.normalize(glob).replace(/\/$/u, ''), prefix))
  const outside = changed.filter(path => !allowed.some(matches => matches(path)))
  const rule = paths.length === 0 ? 'Files changed, but the task is to change none' : `Files changed outside ${paths.join(', ')}`
  return outside.length === 0 ? [] : [finding('outside-paths', rule, outside)]
}

function denialFindings(outcome: Pick<AttemptOutcome, 'result'>): readonly Finding[] {
  const tools = [...new Set(outcome.result?.denials.map(denial => denial.tool) ?? [])].toSorted()
  return tools.length === 0 ? [] : [finding('permission-denied', `Permission was refused for ${tools.join(', ')}`, [])]
}

function finding(kind: Finding['kind'], message: string, files: readonly string[]): Finding {
  const more = files.length - MAX_FILES
  return { kind, message: more > 0 ? `${message} (the first ${MAX_FILES} of ${files.length})` : message, files: files.slice(0, MAX_FILES) }
}
