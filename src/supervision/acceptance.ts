/**
 * The judge: runs a task's checks on the tree as the attempt left it, publishes each piece of evidence as it comes, and states the verdict.
 * One check at a time, neighbours marked `parallel` together. Writes no run state and decides nothing that follows from the verdict.
 */
import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ResolvedConfig } from '../core/config-types.ts'
import type { Check, Evidence, Finding } from '../core/evidence-types.ts'
import { expectsChange, judgeVerdict, type Judgement } from '../core/verdict.ts'
import { checksFor, repinChecks, type CheckConfig, type ResolvedChecks } from './checks.ts'
import { createEvidenceCache, createMemoryEvidenceCache, type EvidenceCache } from './evidence-cache.ts'
import { evidenceKey, setupHash } from './evidence-key.ts'
import { collectFindings } from './findings.ts'
import { readProjectScripts } from './package-scripts.ts'
import type { Judge, JudgeRequest } from './ports.ts'
import { runCheck, type CheckDeps, type CheckRun } from './run-check.ts'

export interface JudgeDeps extends CheckDeps {
  readonly checks: ResolvedChecks
  readonly config: CheckConfig & Pick<ResolvedConfig, 'workdir'>
  /** Absolute folder of the repository's evidence; null = nothing is remembered. */
  readonly evidenceDir: string | null
}

export interface PinnedJudge extends Judge {
  /**
   * Takes in scripts that landed work added where there was nothing to run before; the other checks keep their pinned commands.
   * Returns the names of the checks that count from now on. Call after a task landed, while no attempt is changing the tree.
   */
  readonly repin: () => Promise<readonly string[]>
}

/** `judge` rejects with the reason of its signal when aborted, and when evidence can't be published; every other trouble is evidence. */
export function createJudge(deps: JudgeDeps): PinnedJudge {
  const cacheOf = evidenceCaches(deps.evidenceDir)
  let pinned = deps.checks
  return {
    checksFor: task => checksFor(task, pinned, deps.config),
    repin: async () => {
      const { resolved, appeared } = await repinChecks(deps.config.workdir, pinned, deps.config)
      pinned = resolved
      return appeared
    },
    judge: async request => {
      const checks = checksFor(request.task, pinned, deps.config)
      const { cache, done } = cacheOf(request)
      const changed = request.taskBefore !== request.after.fingerprint
      const judged = ({ evidence }: Gathered): Judgement =>
        judgeVerdict(request.outcome, evidence, changed, expectsChange(request.task, request.agent))
      const first = await gather(deps, cache, request, { checks, tree: request.after.fingerprint, logSuffix: '' })
      const again = first.moved !== null && judged(first).kind === 'verified'
        ? await gather(deps, cache, request, { checks, tree: first.tree, logSuffix: '-again' })
        : null
      const last = again ?? first
      const findings = [...await collectFindings(request), ...optionalRed(last.evidence), ...treeMoved(first.moved, again)]
      const verdict = stillVerified(judged(last), again)
      if (!verdict.judgeError) done()
      return { ...verdict, evidence: last.evidence.map(each => each.key), findings, tree: last.tree }
    },
  }
}

interface OpenedCache {
  readonly cache: EvidenceCache
  /** The attempt is judged: what was earned for it is of no further use. */
  readonly done: () => void
}

/**
 * With a folder, evidence serves every tree of that key. Without one (the shared tree, whose ignored files, packages and services no key can
 * tell) it serves only the second try after an error of the judge: what passed is not run again, what could not run is.
 */
function evidenceCaches(folder: string | null): (request: JudgeRequest) => OpenedCache {
  if (folder !== null) {
    const cache = createEvidenceCache(folder)
    return () => ({ cache, done: () => {} })
  }
  const open = new Map<string, EvidenceCache>()
  return ({ task, attempt }) => {
    const of = `${task.id}/${attempt}`
    const cache = open.get(of) ?? createMemoryEvidenceCache()
    open.set(of, cache)
    return { cache, done: () => void open.delete(of) }
  }
}

async function gather(
  deps: JudgeDeps, cache: EvidenceCache, request: JudgeRequest, pass: Pass,
): Promise<Gathered> {
  const runs = await planRuns(deps, request, pass)
  const known = await recall(cache, request, runs)
  await mkdir(request.logDir, { recursive: true, mode: 0o700 })
  const evidence: Evidence[] = []
  let moved: string | null = null
  for (const batch of batches(runs)) {
    request.signal.throwIfAborted()
    const earned = await Promise.all(batch.map(async run => {
      const remembered = known.get(run)
      if (remembered !== undefined) return remembered
      return runCheck(deps, run)
    }))
    const fresh = earned.filter(each => !each.cached)
    if (moved === null && fresh.length > 0 && await request.fingerprint() !== pass.tree) moved = fresh.map(each => each.check).join(', ')
    // A key speaks of a tree; what was earned on a tree that moved meanwhile is proof for nobody else.
    if (moved === null) for (const each of fresh) await cache.put(each)
    await Promise.all(earned.map(each => request.onEvidence(each)))
    evidence.push(...earned)
  }
  return { evidence, moved, tree: moved === null ? pass.tree : await request.fingerprint() }
}

interface Pass {
  readonly checks: readonly Check[]
  /** Fingerprint of the tree that is judged. */
  readonly tree: string
  /** Keeps the logs of an earlier pass. */
  readonly logSuffix: string
}

interface Gathered {
  readonly evidence: readonly Evidence[]
  /** Fingerprint of the tree that the checks left. */
  readonly tree: string
  /** The first checks during which the tree changed; null = it stayed. */
  readonly moved: string | null
}

/** Verified means: every required check passed on the tree that stays (SEMANTICS 1). A tree that moves whenever it is judged can't be proved. */
function stillVerified(judgement: Judgement, again: Gathered | null): Judgement {
  if (judgement.kind !== 'verified' || again === null || again.moved === null) return judgement
  return { ...judgement, kind: 'unverified', reason: `The tree changed again while ${again.moved} ran: what passed is not the tree that is left.` }
}

function treeMoved(during: string | null, again: Gathered | null): readonly Finding[] {
  if (during === null) return []
  const next = again === null ? '' : ' The tree it left was judged once more.'
  return [{ kind: 'tree-moved', message: `The tree changed while ${during} ran: the check writes into it, or somebody else did.${next}`, files: [] }]
}

/** Every key is taken on the tree before the first check: what a check writes into the tree must not make its own proof stale. */
async function planRuns(deps: JudgeDeps, request: JudgeRequest, { checks, tree, logSuffix }: Pass): Promise<readonly CheckRun[]> {
  const { workspace } = request
  // A check without a command reads nothing.
  const setup = checks.some(check => check.argv !== null) ? await setupHash(workspace.cwd) : ''
  const project = await readProjectScripts(workspace.cwd, deps.config.packageManager)
  const environmentNames = Object.keys(deps.env)
  return checks.map((check, index) => ({
    check,
    key: evidenceKey({ tree, check, environmentNames, setup, mode: 'in-place' }),
    cwd: workspace.cwd,
    workspaceRoot: workspace.root,
    project,
    logFile: join(request.logDir, `${index + 1}-${check.name.replaceAll(/[^A-Za-z0-9._-]+/gu, '_').slice(0, 60)}${logSuffix}.log`),
    runDir: request.runDir,
    signal: request.signal,
  }))
}

/** A build feeds later checks through ignored files, which are no part of the tree: it is run again before a check that has to run. */
async function recall(cache: EvidenceCache, request: JudgeRequest, runs: readonly CheckRun[]): Promise<ReadonlyMap<CheckRun, Evidence>> {
  const found = await Promise.all(runs.map(async run => [run, run.check.argv === null ? null : await cache.get(run.key)] as const))
  const lastToRun = found.findLastIndex(([run, evidence]) => evidence === null && run.check.argv !== null)
  const known = new Map<CheckRun, Evidence>()
  for (const [index, [run, evidence]] of found.entries()) {
    if (evidence === null || (run.check.role === 'build' && index < lastToRun)) continue
    const logPath = evidence.logPath !== null && await isPresent(join(request.runDir, evidence.logPath)) ? evidence.logPath : null
    known.set(run, { ...evidence, check: run.check.name, required: run.check.required, command: run.check.display, logPath, cached: true })
  }
  return known
}

function batches(runs: readonly CheckRun[]): readonly (readonly CheckRun[])[] {
  const grouped: CheckRun[][] = []
  for (const run of runs) {
    const last = grouped.at(-1)
    if (run.check.parallel && last?.[0]?.check.parallel === true) last.push(run)
    else grouped.push([run])
  }
  return grouped
}

function optionalRed(evidence: readonly Evidence[]): readonly Finding[] {
  const red = evidence.filter(each => !each.required && each.grade !== 'passed' && each.grade !== 'skipped')
  if (red.length === 0) return []
  const listed = red.map(each => `${each.check} (${each.grade})`).join(', ')
  return [{ kind: 'optional-check-red', message: `Optional checks did not pass: ${listed}`, files: [] }]
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch {
    // Of another run, or cleaned up: the evidence stands without its log.
    return false
  }
}
