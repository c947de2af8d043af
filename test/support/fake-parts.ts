/** Parts of an engine without processes, files of a project, or a model: what an attempt does is a function of the test's. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldEntries } from '../../src/core/apply-entry.ts'
import type { AttemptOutcome, LaunchEnd, OutcomeKind } from '../../src/core/attempt-types.ts'
import type { Entry } from '../../src/core/entry-types.ts'
import type { Advice, Evidence, Verdict } from '../../src/core/evidence-types.ts'
import type { Graph, TaskSpec } from '../../src/core/graph-types.ts'
import { newRunState } from '../../src/core/run-state.ts'
import type { RunPolicy, RunState } from '../../src/core/run-types.ts'
import { judgeVerdict } from '../../src/core/verdict.ts'
import { Engine, type EngineEnd, type EngineObserver, type EngineOptions } from '../../src/engine/drive/engine.ts'
import type { EngineParts } from '../../src/engine/drive/parts.ts'
import type { AttemptEndRequest, AttemptPorts, AttemptRequest, Executor } from '../../src/executor/executor.ts'
import type { AdviceRequest } from '../../src/supervision/ports.ts'

export function task(id: string, rest: Partial<TaskSpec> = {}): TaskSpec {
  return { id, title: id, description: '', acceptanceCriteria: [], dependencies: [], priority: 0, assignee: 'fake', ...rest }
}

export function graph(...tasks: readonly TaskSpec[]): Graph {
  return { tasks }
}

const POLICY: RunPolicy = {
  maxConcurrency: 2, maxRetriesPerTask: 3, maxReworks: 2, maxSupervisionRounds: 5, acceptUnverified: false, supervised: false,
  maxBudgetUsd: null, maxBudgetTokens: null, breakerLimit: 3, sharedTree: false, maxSplitDepth: 2, maxSplitChildren: 50, agents: ['fake'],
}

export function outcome(kind: OutcomeKind = 'succeeded', rest: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return {
    kind, message: kind, launches: 1, sessionId: null, exit: null, clock: null, lastPhase: null, lastTool: null, spawnFailure: null, result: null,
    report: { kind: 'absent' }, usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 }, costUsd: 0, model: null,
    stderrTail: '', durationMs: 1, ...rest,
  }
}

export function evidence(grade: Evidence['grade'] = 'passed', rest: Partial<Evidence> = {}): Evidence {
  return {
    key: `test-${grade}`, check: 'test', role: 'test', required: true, command: 'npm test', grade, reason: grade, exitCode: grade === 'passed' ? 0 : 1,
    signal: null, durationMs: 1, tests: null, logPath: null, tail: `tail of ${grade}`, cached: false, ...rest,
  }
}

export interface FakeWorld {
  /** What an attempt comes to; may wait. Default: succeeded at once. */
  readonly attempt?: (request: AttemptRequest, end: Promise<AttemptEndRequest>) => AttemptOutcome | Promise<AttemptOutcome>
  /** What the only check says. Default: passed. */
  readonly check?: (task: string, attempt: number) => Evidence | Promise<Evidence>
  /** An advisor; absent = none. */
  readonly advise?: (request: AdviceRequest) => Advice | Promise<Advice>
  /** False for an attempt that changed nothing. Default: true. */
  readonly changed?: (task: string, attempt: number) => boolean
  readonly patches?: EngineParts['patches']
}

export interface FakeRun {
  readonly engine: Engine
  readonly state: RunState
  readonly entries: Entry[]
  readonly started: string[]
  /** Prompts by `task/attempt`. */
  readonly prompts: Map<string, string>
  alive: number
  highWater: number
  readonly run: () => Promise<EngineEnd>
}

export interface FakeRunOptions {
  readonly policy?: Partial<RunPolicy>
  readonly world?: FakeWorld
  /** Entries of an engine before. */
  readonly before?: readonly Entry[]
  readonly append?: (entries: readonly Entry[]) => Promise<void>
  readonly observer?: EngineObserver
  readonly suspensions?: EngineOptions['suspensions']
}

/** An engine over a graph with fakes behind the executor and judge seams; real temporary folder, real turns, real reducers. */
export function fakeRun(tasks: Graph, options: FakeRunOptions = {}): FakeRun {
  const policy = { ...POLICY, ...options.policy, supervised: options.world?.advise !== undefined }
  const before = options.before ?? []
  const state = before.length === 0 ? newRunState(tasks, 'run', policy) : foldEntries(tasks, 'run', policy, before)
  const world = options.world ?? {}
  const facts: { entries: Entry[], started: string[], prompts: Map<string, string>, alive: number, highWater: number } = {
    entries: [...before], started: [], prompts: new Map(), alive: 0, highWater: 0,
  }
  const engine = new Engine({
    run: 'run',
    runDir: mkdtempSync(join(tmpdir(), 'dsh-openclaude-fake-')),
    version: '0.0.0',
    state,
    parts: fakeParts(world, facts),
    append: options.append ?? (() => Promise.resolve()),
    ...(options.suspensions === undefined ? {} : { suspensions: options.suspensions }),
    observers: [{ entries: entries => void facts.entries.push(...entries) }, ...(options.observer === undefined ? [] : [options.observer])],
  })
  return Object.assign(facts, {
    engine,
    state,
    run: () => {
      engine.start({ before: before.length === 0 ? [{ type: 'created', graphSha256: 'sha' }] : [], after: [] })
      return engine.finished
    },
  })
}

function fakeParts(world: FakeWorld, facts: { started: string[], prompts: Map<string, string>, alive: number, highWater: number }): EngineParts {
  const executor: Executor = {
    name: 'fake',
    agent: true,
    preflight: () => Promise.resolve({ executable: 'fake', version: '0', notes: [] }),
    start: (request, ports) => {
      facts.alive += 1
      facts.highWater = Math.max(facts.highWater, facts.alive)
      facts.started.push(`${request.task}/${request.attempt}`)
      facts.prompts.set(`${request.task}/${request.attempt}`, request.prompt)
      const { promise, resolve } = Promise.withResolvers<AttemptEndRequest>()
      const running = oneLaunch(request, ports, async () => (await world.attempt?.(request, promise)) ?? outcome())
      return { outcome: running.finally(() => { facts.alive -= 1 }), end: resolve }
    },
  }
  const changed = (id: string, attempt: number): boolean => world.changed?.(id, attempt) ?? true
  return {
    executor: name => (name === 'fake' ? executor : undefined),
    workspace: {
      kind: 'shared',
      prepare: () => Promise.resolve({ kind: 'shared', root: '/tree', cwd: '/tree' }),
      snapshot: () => Promise.resolve({ fingerprint: 'tree', files: new Map() }),
      land: () => Promise.resolve({ kind: 'landed', commit: null }),
    },
    judge: {
      checksFor: () => [],
      judge: async (request) => {
        const found = (await world.check?.(request.task.id, request.attempt)) ?? evidence()
        await request.onEvidence(found)
        const judged = judgeVerdict(request.outcome, [found], changed(request.task.id, request.attempt), true)
        return { ...judged, evidence: [found.key], findings: [], tree: 'tree' } satisfies Verdict
      },
    },
    advisor: world.advise === undefined ? null : { advise: async request => await world.advise?.(request) ?? { kind: 'unavailable', reason: '' } },
    patches: world.patches ?? { plan: () => Promise.resolve({ refused: 'no patches here' }), apply: () => Promise.reject(new Error('not planned')) },
    repin: () => Promise.resolve([]),
    context: () => Promise.resolve(''),
    diff: () => Promise.resolve(''),
    redact: text => text,
  }
}

/** Reports one launch around the work, as a real executor would. */
async function oneLaunch(request: AttemptRequest, ports: AttemptPorts, work: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
  const launch = request.launches.launches.length + 1
  await ports.record({
    kind: 'launch-intended', launch, mode: 'fresh', reason: launch === 1 ? 'first' : 'engine-restart', sessionId: `s-${request.task}-${request.attempt}`,
    marker: 'm', dir: 'd',
  })
  await ports.record({ kind: 'launch-live', launch, keeper: null, child: null })
  const result = await work()
  if (result.kind === 'spawn-failed') return result
  await ports.record({ kind: 'launch-ended', launch, tree: null, end: LAUNCH_END })
  await ports.record({ kind: 'launch-swept', launch, result: 'clean', ended: 0 })
  return result
}

const LAUNCH_END: LaunchEnd = {
  exit: { known: true, code: 0, signal: null }, endedBy: null, result: null, resultOversize: false, openTools: [], backgroundTasks: 0, records: 0,
  lastTool: null, lastPhase: null, usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 }, costUsd: 0, model: null,
  stderrTail: '', durationMs: 1,
}
