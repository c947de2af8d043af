/** One attempt in a temporary folder, driven through the executor seam: records every fact in order, as a journal would. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttemptLaunches, LaunchFact } from '../../src/core/attempt-types.ts'
import { applyLaunchFact, newLaunches } from '../../src/core/launches.ts'
import type { AttemptActivity, AttemptPorts, AttemptRequest } from '../../src/executor/executor.ts'

export interface AttemptRig {
  readonly root: string
  readonly workspace: string
  readonly facts: LaunchFact[]
  /** Fold of the facts, as a restarted engine would read it. */
  readonly launches: AttemptLaunches
  readonly activities: AttemptActivity[]
  readonly request: AttemptRequest
  readonly ports: AttemptPorts
  readonly kinds: () => string[]
  readonly of: <K extends LaunchFact['kind']>(kind: K) => Extract<LaunchFact, { kind: K }>[]
  readonly remove: () => void
}

export interface RigOptions {
  readonly request?: Partial<AttemptRequest>
  readonly secrets?: readonly string[]
  /** Gives the fingerprint of the tree; default: never changes. */
  readonly fingerprint?: () => string
}

export function newAttemptRig({ request = {}, secrets = [], fingerprint = () => 'tree' }: RigOptions = {}): AttemptRig {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'attempt-')))
  const workspace = join(root, 'tree')
  const attemptDir = join(root, 'run', 't0-task', 'a1')
  mkdirSync(workspace)
  mkdirSync(attemptDir, { recursive: true })
  const facts: LaunchFact[] = []
  const activities: AttemptActivity[] = []
  const launches = request.launches ?? newLaunches()
  return {
    root, workspace, facts, launches, activities,
    request: {
      run: 'r1', task: 'task', taskIndex: 0, attempt: 1, attemptDir, runDir: join(root, 'run'), workspaceRoot: workspace, cwd: workspace,
      prompt: 'Do the task', timeouts: {}, ...request, launches,
    },
    ports: {
      record: fact => {
        facts.push(fact)
        applyLaunchFact(launches, fact)
        return Promise.resolve()
      },
      activity: activity => activities.push(activity),
      fingerprint: () => Promise.resolve(fingerprint()),
      redact: text => secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text),
    },
    kinds: () => facts.map(fact => fact.kind),
    of: kind => facts.filter((fact): fact is Extract<LaunchFact, { kind: typeof kind }> => fact.kind === kind),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
