/**
 * What must hold before the first OpenClaude child starts: the executable is found and answers `--version` in exactly the child's environment,
 * its Node is new enough, root has a sandbox, extra directories exist. Starts nothing but version requests.
 */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { ResolvedConfig } from '../../core/config-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { MARKER_NAME } from '../process/child-env.ts'
import type { PreflightFacts } from '../executor.ts'
import { findExecutable, type FoundExecutable } from '../process/find-executable.ts'
import { bypassesPermissions } from './permissions.ts'
import { runPlain, type PlainResult } from '../plain/child.ts'

export interface PreflightContext {
  readonly config: Pick<ResolvedConfig, 'executable' | 'permissionMode' | 'addDirs'>
  readonly cwd: string
  /** The complete environment of the child. */
  readonly env: Readonly<Record<string, string>>
  /** Effective user id; null where the platform has none. */
  readonly uid: number | null
  readonly redact: (text: string) => string
}

const MIN_NODE_MAJOR = 22
/** Major and minor of the release whose output the decoder was held against. */
const MEASURED_VERSION = '0.29'
const VERSION_TIMEOUT_MS = 60_000

/** Throws `OC_CHILD_NOT_FOUND`, `OC_CHILD_SPAWN`, `OC_CHILD_VERSION`, `OC_ENV_NODE`, `OC_ENV_ROOT` or `OC_CONFIG_INVALID`. */
export async function preflightOpenclaude(context: PreflightContext): Promise<PreflightFacts> {
  checkDirectories(context)
  checkRoot(context)
  const found = findExecutable(context.config.executable, context)
  const notes: string[] = []
  const node = await childNode(found, context)
  if (node !== null) notes.push(node)
  const [program] = found.argv
  const asked = await ask([...found.argv, '--version'], context)
  const version = /\d+\.\d+\.\d+\S*/.exec(asked.tail)?.[0]
  if (asked.exitCode !== 0 || version === undefined) {
    const seen = asked.spawnError?.message ?? `${ending(asked)}, output: ${asked.tail.trim().slice(0, 300) || '(none)'}`
    throw new OpenClaudeError('OC_CHILD_VERSION', `${program} did not answer --version: ${seen}.`, {
      subject: `executable "${context.config.executable.join(' ')}"`,
      fix: 'Run the same command by hand and repair what it says.',
    })
  }
  return { executable: found.argv.join(' '), version, notes, warnings: drift(version) }
}

/** The output format is unversioned: another release may speak differently, and unknown records count as progress. */
function drift(version: string): readonly string[] {
  if (version.startsWith(`${MEASURED_VERSION}.`)) return []
  return [`OpenClaude ${version} is not the measured ${MEASURED_VERSION}: records it does not know count as progress, so a stall may be found later.`]
}

function checkDirectories({ config }: PreflightContext): void {
  const faults = config.addDirs.flatMap((dir, index) => statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true
    ? []
    : [{ path: `$.addDirs[${index}]`, message: `${dir} is not an existing directory.` }])
  if (faults.length > 0) {
    throw new OpenClaudeError('OC_CONFIG_INVALID', `addDirs names ${faults.length} missing ${faults.length === 1 ? 'directory' : 'directories'}.`, {
      subject: 'addDirs', fix: 'Create them or take them out.', faults,
    })
  }
}

function checkRoot({ config, env, uid }: PreflightContext): void {
  if (uid !== 0 || !bypassesPermissions(config.permissionMode)) return
  if (env['IS_SANDBOX'] === '1' || (env['CLAUDE_CODE_BUBBLEWRAP'] ?? '') !== '') return
  throw new OpenClaudeError('OC_ENV_ROOT', [
    'OpenClaude refuses to run unattended as root, because nothing would then stop a mistaken command from changing the whole machine.',
    'It makes an exception only when the environment says that root is confined: IS_SANDBOX=1.',
  ].join(' '), {
    subject: `permission mode "${config.permissionMode === '' ? 'unattended' : config.permissionMode}"`,
    fix: 'Run as another user, choose a permissionMode such as acceptEdits, or, if this really is a throw-away container, set IS_SANDBOX: "1" under `env`.',
  })
}

/** Checks the Node that a script-like executable will run on; null when it is no Node script. */
async function childNode(found: FoundExecutable, context: PreflightContext): Promise<string | null> {
  const [program] = found.argv
  const own = /^node(js)?$/.test(basename(program))
  if (!own && !/^node(js)?$/.test(found.interpreter ?? '')) return null
  const asked = await ask([own ? program : 'node', '--version'], context)
  const version = /v(\d+)\.\d+\.\d+/.exec(asked.tail)
  if (version === null || asked.exitCode !== 0) return null
  if (Number(version[1]) < MIN_NODE_MAJOR) {
    throw new OpenClaudeError('OC_ENV_NODE', `The child would run on Node ${version[0]}, but OpenClaude needs Node ${MIN_NODE_MAJOR} or newer.`, {
      subject: `executable "${found.argv.join(' ')}"`,
      fix: 'Put a newer Node first on the PATH of the child (`env`), or set `executable` to a command: a newer node binary, then the script.',
    })
  }
  return `The child runs on Node ${version[0]}.`
}

function ask(argv: readonly string[], { cwd, env, redact }: PreflightContext): Promise<PlainResult> {
  return runPlain({
    command: { argv }, cwd, env, timeoutMs: VERSION_TIMEOUT_MS, logFile: null, maxBytes: 0, tailBytes: 4096,
    marker: { name: MARKER_NAME, value: randomUUID() }, workspaceRoot: cwd, redact,
  })
}

function ending(result: PlainResult): string {
  if (result.timedOut) return `no answer in ${VERSION_TIMEOUT_MS / 1000} s`
  return result.signal === null ? `exit code ${result.exitCode}` : `ended by ${result.signal}`
}
