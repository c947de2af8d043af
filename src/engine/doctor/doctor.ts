/** What `doctor` looks at: each part of the environment a run depends on, as one finding. Starts nothing but version requests, and with `live` one prompt. */
import { stat } from 'node:fs/promises'
import { arch } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ConfigWithOrigins } from '../../core/config-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { openclaudeEnv } from '../../executor/process/child-env.ts'
import { createOpenClaudeExecutor } from '../../executor/openclaude/openclaude.ts'
import { resolveChecks } from '../../supervision/checks.ts'
import { askLive } from './live-prompt.ts'
import { findLiveOwner } from '../state/lock-owner.ts'
import { createRedactor } from '../secrets/redact.ts'
import { openRepository, realWorkdir, resolveStateDir } from '../state/state-dir.ts'

export interface DoctorFinding {
  readonly subject: string
  readonly level: 'ok' | 'warning' | 'error'
  readonly message: string
  readonly fix?: string
}

export async function examine(resolved: ConfigWithOrigins, options: { readonly live: boolean }): Promise<readonly DoctorFinding[]> {
  const findings: DoctorFinding[] = [
    node(),
    await machine(),
    await guarded('work directory', async () => ({ message: await realWorkdir(resolved.config.workdir) })),
    await guarded('state directory', () => state(resolved)),
    ...await credentials(),
    await guarded('checks', () => checks(resolved)),
  ]
  const executable = await guarded('openclaude', () => openclaude(resolved))
  findings.push(executable, ...resolved.warnings.map(message => ({ subject: 'configuration', level: 'warning', message } as const)))
  if (options.live && executable.level !== 'error') findings.push(await guarded('live prompt', () => live(resolved)))
  return findings
}

type Good = { readonly message: string, readonly level?: 'ok' | 'warning', readonly fix?: string }

async function guarded(subject: string, look: () => Promise<Good>): Promise<DoctorFinding> {
  try {
    return { subject, level: 'ok', ...await look() }
  } catch (error) {
    const fix = error instanceof OpenClaudeError ? error.fix : undefined
    return { subject, level: 'error', message: error instanceof Error ? error.message : String(error), ...(fix === undefined ? {} : { fix }) }
  }
}

function node(): DoctorFinding {
  return { subject: 'node', level: 'ok', message: `host runs ${process.version} for ${process.arch}` }
}

async function machine(): Promise<DoctorFinding> {
  const { stdout } = await promisify(execFile)('uname', ['-m'])
  const kernel = stdout.trim()
  const same = ({ x86_64: 'x64', aarch64: 'arm64', arm64: 'arm64' } as Record<string, string>)[kernel] === arch()
  return {
    subject: 'machine', level: same ? 'ok' : 'warning', message: `machine is ${kernel}, Node was built for ${arch()}`,
    ...(same ? {} : { fix: 'Install a Node built for this machine: native modules are looked up by the architecture of Node.' }),
  }
}

async function state(resolved: ConfigWithOrigins): Promise<Good> {
  const place = await openRepository(resolveStateDir(resolved.config.stateDir), resolved.config.workdir)
  const owner = await findLiveOwner(place.dir)
  return { message: owner === null ? `${place.dir}, no engine at work` : `${place.dir}, owned by pid ${owner.identity.pid} since ${owner.since}` }
}

async function checks(resolved: ConfigWithOrigins): Promise<Good> {
  const found = await resolveChecks(await realWorkdir(resolved.config.workdir), resolved.config)
  const runnable = found.checks.filter(check => check.argv !== null)
  if (runnable.length === 0) {
    return { level: 'warning', message: 'the project has no command that can prove work', fix: 'Add a test, lint, typecheck or build script, or set additionalCommands.' }
  }
  return { message: runnable.map(check => `${check.name}: ${check.display}`).join('; ') }
}

async function openclaude(resolved: ConfigWithOrigins): Promise<Good> {
  const executor = createOpenClaudeExecutor(resolved.config, {
    environment: process.env, envMode: 'inherit', uid: process.geteuid?.() ?? null, redact: redactorOf(resolved).redact,
  })
  const facts = await executor.preflight({ cwd: resolved.config.workdir })
  const { warnings = [] } = facts
  return {
    level: warnings.length > 0 ? 'warning' : 'ok',
    message: [`${facts.executable}, version ${facts.version}`, ...facts.notes, ...warnings].join('; '),
  }
}

/** OpenClaude keeps provider keys in its own configuration; others should not be able to read it. */
async function credentials(): Promise<readonly DoctorFinding[]> {
  const home = process.env['HOME']
  const file = process.env['OPENCLAUDE_CONFIG_DIR'] ?? (home === undefined ? undefined : join(home, '.openclaude.json'))
  if (file === undefined) return []
  const mode = await stat(file).then(found => (found.isFile() ? found.mode & 0o777 : null), () => null)
  if (mode === null || (mode & 0o077) === 0) return []
  return [{ subject: 'credentials', level: 'warning', message: `${file} has mode ${mode.toString(8)}: others can read provider keys`, fix: `chmod 600 ${file}` }]
}

async function live(resolved: ConfigWithOrigins): Promise<Good> {
  const env = openclaudeEnv({ mode: 'inherit', caller: process.env, config: resolved.config })
  const answer = await askLive(resolved.config, env, redactorOf(resolved).redact)
  return { message: `model ${answer.model ?? 'unknown'} answered in ${Math.round(answer.durationMs)} ms` }
}

function redactorOf(resolved: ConfigWithOrigins): ReturnType<typeof createRedactor> {
  return createRedactor({ env: process.env, configEnv: resolved.config.env })
}
