/**
 * `run.json` (SEMANTICS 8): what a run was started with, written once. Holds the graph as decoded, the configuration with the origin of
 * each value, and the checks; never values of environment variables. A resume goes on with it; SEMANTICS 11 lists the keys that may change.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OpenClaudeError } from '../../errors.ts'
import type { ConfigKey, ConfigOrigin, ConfigWithOrigins, ResolvedConfig } from '../../core/config-types.ts'
import type { Graph } from '../../core/graph-types.ts'
import type { ResolvedChecks } from '../../supervision/checks.ts'
import { writeFileDurable } from '../../durable-file.ts'

export interface RunFile {
  readonly v: 1
  readonly run: string
  readonly createdAt: string
  readonly version: string
  readonly workdir: string
  /** Absolute path of the graph file; null for a request that is one task. */
  readonly graphPath: string | null
  readonly graphSha256: string
  readonly graph: Graph
  readonly config: ResolvedConfig
  readonly origins: Readonly<Record<ConfigKey, ConfigOrigin>>
  readonly warnings: readonly string[]
  /** The pinned checks, as the judge resolved them. */
  readonly checks: ResolvedChecks
}

/** Keys whose newly given values win on a resume; everything else stays as the run was started with. */
const CHANGEABLE: ReadonlySet<ConfigKey> = new Set<ConfigKey>([
  'maxConcurrency', 'firstEventTimeoutMs', 'idleTimeoutMs', 'toolTimeoutMs', 'agentToolTimeoutMs', 'backgroundTimeoutMs', 'settleTimeoutMs',
  'maxRuntimeMs', 'acceptanceTimeoutMs', 'killGraceMs', 'executable', 'env', 'envPass', 'supervisor', 'supervisorEnabled', 'supervisorProvider',
  'supervisorModel', 'supervisorMaxTokens', 'supervisorTemperature', 'supervisorTimeoutMs', 'maxBudgetUsd', 'maxBudgetTokens', 'watchdog',
])

export function hashGraph(graph: Graph): string {
  return createHash('sha256').update(JSON.stringify(graph)).digest('hex')
}

export async function writeRunFile(runDir: string, file: RunFile): Promise<void> {
  const env = Object.fromEntries(Object.keys(file.config.env).map(name => [name, '']))
  const content = { ...file, config: { ...file.config, env } }
  await writeFileDurable(join(runDir, 'run.json'), `${JSON.stringify({ ...content, seal: sealOf(content) }, null, 2)}\n`)
}

/** Over the content as JSON writes it. Finds damage and edits by hand, like the hashes of the journal; no attacker. */
function sealOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)
}

/** @throws OC_RUN_STATE when the file is missing or damaged, or says something else than when it was written. */
export async function readRunFile(runDir: string): Promise<RunFile> {
  const path = join(runDir, 'run.json')
  const { seal, ...file } = await readSealed(path)
  if (seal === sealOf(file)) return file
  throw new OpenClaudeError('OC_RUN_STATE', `${path}: run.json was changed after it was written; other checks or another graph would decide than the run was started with.`, {
    subject: path, fix: 'Put back what was changed, or start the graph again with `dsh-openclaude run`.',
  })
}

async function readSealed(path: string): Promise<RunFile & { readonly seal?: unknown }> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as RunFile & { readonly seal?: unknown }
  } catch (error) {
    throw new OpenClaudeError('OC_RUN_STATE', `${path} cannot be read: the run was never completely created, or its folder is damaged.`, {
      subject: path, fix: 'Start the graph again with `dsh-openclaude run`.', cause: error,
    })
  }
}

/** The configuration a resumed run goes on with: pinned values from the run, changeable ones from `fresh` where somebody wrote them. */
export function resumeConfig(file: RunFile, fresh: ConfigWithOrigins): ConfigWithOrigins {
  const config: Record<string, unknown> = { ...file.config, env: fresh.config.env, stateDir: fresh.config.stateDir }
  const origins: Record<string, ConfigOrigin> = { ...file.origins }
  for (const key of CHANGEABLE) {
    if (key === 'env' || fresh.origins[key] === 'default') continue
    config[key] = fresh.config[key]
    origins[key] = fresh.origins[key]
  }
  return {
    config: config as unknown as ResolvedConfig,
    origins: origins as Record<ConfigKey, ConfigOrigin>,
    warnings: fresh.warnings,
  }
}
