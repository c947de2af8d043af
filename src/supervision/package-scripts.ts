/**
 * What a project's manifest offers per role (R-36): which script, the command that runs it, and its text with the hooks around it.
 * A missing script is a reason, never a pass. Reads `package.json` and lockfile names; runs nothing.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { ResolvedConfig } from '../core/config-types.ts'
import type { CheckRole } from '../core/graph-types.ts'
import { choosePackageManager, type PackageManager } from './package-manager.ts'

export interface ProjectScripts {
  readonly manager: PackageManager
  readonly scripts: ReadonlyMap<string, string>
  /** Fingerprint of the files that tell package managers how to run a script, and in which shell; empty = there are none. */
  readonly settings: string
  /** Why there are no scripts at all; null when the manifest was read. */
  readonly absent: string | null
  readonly warnings: readonly string[]
}

export type RoleScript =
  | {
    readonly kind: 'script'
    readonly name: string
    readonly argv: readonly string[]
    readonly display: string
    readonly scriptText: string
    readonly pinned: string
  }
  /** `named`: the configuration asked for exactly this script. */
  | { readonly kind: 'none', readonly reason: string, readonly named: boolean }

/** Scripts that are looked for when the configuration names the role itself, which is the default. */
const ROLE_SCRIPTS: Readonly<Record<CheckRole, readonly string[]>> = {
  lint: ['lint'],
  typecheck: ['typecheck', 'type-check', 'check-types'],
  build: ['build'],
  test: ['test'],
}

const manifestSchema = z.looseObject({
  scripts: z.record(z.string(), z.string()).optional(),
  packageManager: z.string().optional(),
})

/** Never throws: an unreadable manifest is a reason and a warning. */
export async function readProjectScripts(workdir: string, configured: ResolvedConfig['packageManager']): Promise<ProjectScripts> {
  const manifest = await readManifest(join(workdir, 'package.json'))
  const chosen = await choosePackageManager(workdir, configured, manifest.kind === 'read' ? manifest.packageManager : null)
  const settings = await settingsOf(workdir)
  if (manifest.kind === 'read') return { manager: chosen.manager, scripts: manifest.scripts, settings, absent: null, warnings: chosen.warnings }
  const warnings = manifest.kind === 'broken' ? [...chosen.warnings, manifest.reason] : chosen.warnings
  return { manager: chosen.manager, scripts: new Map(), settings, absent: manifest.reason, warnings }
}

/** `configured` is the script name from the configuration. Empty = the role is off; the role's own name = the usual names of the role. */
export function scriptForRole(role: CheckRole, configured: string, project: ProjectScripts): RoleScript {
  if (configured === '') return { kind: 'none', reason: `${role} is switched off`, named: false }
  const named = configured !== role
  const candidates = named ? [configured] : ROLE_SCRIPTS[role]
  const name = candidates.find(candidate => project.scripts.has(candidate))
  const missing = `package.json has no script ${candidates.map(candidate => `"${candidate}"`).join(' or ')}`
  if (name === undefined) return { kind: 'none', reason: project.absent ?? missing, named }
  if (doesNothing(project.scripts.get(name) ?? '')) {
    return { kind: 'none', reason: `the script "${name}" does nothing (${project.scripts.get(name) ?? ''})`, named: false }
  }
  if (cannotFail(project.scripts.get(name) ?? '')) {
    return { kind: 'none', reason: `the script "${name}" can't fail (${project.scripts.get(name) ?? ''})`, named: false }
  }
  const argv = [project.manager, 'run', name]
  const display = argv.join(' ')
  return { kind: 'script', name, argv, display, scriptText: scriptText(name, project), pinned: pinnedCommand(name, project) }
}

/** Text of the script and the hooks around it, as the manifest says them, and how it is run; empty when it is gone. */
export function scriptText(name: string, project: ProjectScripts): string {
  const text = withHooks(name, project).map(([script, line]) => `${script}: ${line}\n`).join('')
  return text === '' || project.settings === '' ? text : `${text}settings: ${project.settings}\n`
}

function pinnedCommand(name: string, project: ProjectScripts): string {
  return withHooks(name, project).map(([, text]) => `(${text}\n)`).join(' && ')
}

function withHooks(name: string, project: ProjectScripts): readonly (readonly [string, string])[] {
  return [`pre${name}`, name, `post${name}`].flatMap(script => {
    const text = project.scripts.get(script)
    return text === undefined ? [] : [[script, text] as const]
  })
}

/** The placeholder of `npm init`, and commands that prove nothing by succeeding. */
function doesNothing(text: string): boolean {
  return /^\s*(?:true|:|exit 0|echo\b[^&|;`$<>]*(?:&&\s*exit\s+[01])?)\s*;?\s*$/u.test(text)
}

/** Ends in a command that always succeeds, whatever came before it: `vitest || true`. With `exit` or `set` before that, it may still fail. */
function cannotFail(text: string): boolean {
  const end = /(?:\|\||;|\n)\s*(?:true|:|exit 0|echo\b[^&|;`$<>]*)\s*;?\s*$/u.exec(text)
  return end !== null && !/\b(?:exit|set)\b/u.test(text.slice(0, end.index))
}

type Manifest =
  | { readonly kind: 'read', readonly scripts: ReadonlyMap<string, string>, readonly packageManager: string | null }
  | { readonly kind: 'absent' | 'broken', readonly reason: string }

async function readManifest(path: string): Promise<Manifest> {
  const text = await readText(path)
  if (text === null) return { kind: 'absent', reason: 'there is no package.json' }
  const parsed = manifestSchema.safeParse(parseJson(text))
  if (!parsed.success) {
    const faults = parsed.error.issues.map(issue => `${issue.path.join('.') || '$'}: ${issue.message}`)
    return { kind: 'broken', reason: `package.json can't be read: ${faults.join('; ')}` }
  }
  return { kind: 'read', scripts: new Map(Object.entries(parsed.data.scripts ?? {})), packageManager: parsed.data.packageManager ?? null }
}

/** An entry `script-shell=/bin/true` in one of them makes every script pass. */
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml', 'pnpm-workspace.yaml', '.pnpmfile.cjs']

async function settingsOf(workdir: string): Promise<string> {
  const texts = await Promise.all(SETTINGS.map(name => readText(join(workdir, name))))
  return texts.every(text => text === null) ? '' : createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16)
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    // No manifest, or none we may read: the project has no scripts for us.
    return null
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch {
    // Undefined fails the schema, which names the fault.
    return undefined
  }
}
