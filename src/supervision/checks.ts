/**
 * The run's checks: resolved once from the base tree, pinned, and narrowed per task. Order lint, typecheck, build, test, extra.
 * Decides which commands count; runs none of them.
 */
import type { ResolvedConfig } from '../core/config-types.ts'
import type { Check } from '../core/evidence-types.ts'
import { CHECK_ROLES, type CheckRole, type CheckSpec, type TaskSpec } from '../core/graph-types.ts'
import { OpenClaudeError, type Fault } from '../errors.ts'
import type { PackageManager } from './package-manager.ts'
import { readProjectScripts, scriptForRole, type RoleScript } from './package-scripts.ts'

export type CheckConfig = Pick<
  ResolvedConfig,
  'lint' | 'typecheck' | 'build' | 'test' | 'additionalCommands' | 'acceptanceTimeoutMs' | 'packageManager'
>

/** Plain data: kept with the run, so that a later engine judges by the same commands. */
export interface ResolvedChecks {
  readonly checks: readonly Check[]
  readonly manager: PackageManager
  readonly warnings: readonly string[]
}

/**
 * Throws `OC_CONFIG_INVALID` listing every role whose configured script does not exist.
 * A role without a configured name and without a script is a check that has nothing to run, with the reason.
 */
export async function resolveChecks(workdir: string, config: CheckConfig): Promise<ResolvedChecks> {
  const project = await readProjectScripts(workdir, config.packageManager)
  const roles = CHECK_ROLES.map(role => ({ role, script: scriptForRole(role, config[role], project) }))
  const faults = roles.flatMap(({ role, script }): Fault[] => {
    if (script.kind !== 'none' || !script.named) return []
    const message = `names the script "${config[role]}", but ${script.reason}`
    return [{ path: `$.${role}`, message, suggestion: 'add the script, or name an existing one' }]
  })
  if (faults.length > 0) {
    const listed = faults.map(fault => `${fault.path} ${fault.message}`).join('; ')
    const message = `The configuration names scripts that do not exist: ${listed}`
    throw new OpenClaudeError('OC_CONFIG_INVALID', message, { subject: workdir, faults })
  }
  const extra = config.additionalCommands.map(command => commandCheck(command, 'extra', config.acceptanceTimeoutMs, null))
  const checks = [...roles.map(({ role, script }) => roleCheck(role, script, config.acceptanceTimeoutMs)), ...extra]
  return { checks, manager: project.manager, warnings: project.warnings }
}

export interface Repinned {
  readonly resolved: ResolvedChecks
  readonly appeared: readonly string[]
}

/**
 * Checks that had nothing to run when the run started and have a script now; the others keep their pinned commands (SEMANTICS 10).
 * `appeared` names them; empty = nothing changed.
 */
export async function repinChecks(workdir: string, resolved: ResolvedChecks, config: CheckConfig): Promise<Repinned> {
  if (resolved.checks.every(check => check.argv !== null)) return { resolved, appeared: [] }
  const project = await readProjectScripts(workdir, config.packageManager)
  const checks = resolved.checks.map((check): Check => {
    if (check.argv !== null || check.role === 'extra') return check
    return roleCheck(check.role, scriptForRole(check.role, config[check.role], project), config.acceptanceTimeoutMs)
  })
  const appeared = checks.filter((check, index) => check.argv !== null && resolved.checks[index]?.argv === null).map(check => check.name)
  return appeared.length === 0 ? { resolved, appeared } : { resolved: { ...resolved, checks }, appeared }
}

/** What counts for one task: its own `checks` replace the run's; timeouts and the expected number of tests are the task's, if given. */
export function checksFor(task: TaskSpec, resolved: ResolvedChecks, config: Pick<CheckConfig, 'acceptanceTimeoutMs'>): readonly Check[] {
  const timeoutMs = task.timeouts?.acceptanceTimeoutMs
  const expectTests = task.expectTests ?? null
  const ofRun = (check: Check): Check => ({
    ...check,
    timeoutMs: check.role === 'extra' ? check.timeoutMs : timeoutMs ?? check.timeoutMs,
    expectTests: check.role === 'test' ? expectTests : check.expectTests,
  })
  if (task.checks === undefined) return resolved.checks.map(ofRun)
  return task.checks.map(wanted => typeof wanted === 'string'
    ? ofRun(asked(wanted, resolved, config.acceptanceTimeoutMs))
    : commandCheck(wanted, roleNamed(wanted.name), timeoutMs ?? config.acceptanceTimeoutMs, expectTests))
}

/** A task that names a role wants its proof: a missing script is then tried and found unrunnable, not skipped. */
function asked(role: CheckRole, resolved: ResolvedChecks, timeoutMs: number): Check {
  const check = resolved.checks.find(candidate => candidate.role === role)
  if (check !== undefined && check.argv !== null) return check
  const argv = [resolved.manager, 'run', role]
  const display = argv.join(' ')
  const base = { name: role, role, timeoutMs, parallel: false, expectTests: null, required: true }
  return { ...base, argv, skipReason: null, display, scriptText: '' }
}

function roleCheck(role: CheckRole, script: RoleScript, timeoutMs: number): Check {
  const base = { name: role, role, timeoutMs, parallel: false, expectTests: null, required: true }
  return script.kind === 'script'
    ? { ...base, argv: script.argv, skipReason: null, display: script.display, scriptText: script.scriptText, pinned: script.pinned }
    : { ...base, argv: null, skipReason: script.reason, display: '', scriptText: '' }
}

function commandCheck(command: CheckSpec, role: Check['role'], timeoutMs: number, expectTests: number | null): Check {
  return {
    name: command.name,
    role,
    argv: ['sh', '-c', command.command],
    skipReason: null,
    display: command.command,
    scriptText: '',
    timeoutMs: command.timeoutMs ?? timeoutMs,
    required: command.required ?? true,
    parallel: command.parallel ?? false,
    expectTests: role === 'test' ? expectTests : null,
  }
}

function roleNamed(name: string): Check['role'] {
  return CHECK_ROLES.find(role => role === name) ?? 'extra'
}
