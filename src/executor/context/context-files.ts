/**
 * Which files of a project a prompt may quote, and reading them safely. Files that usually hold secrets are left out by name, whatever they
 * hold; links are not followed; binary, huge and unreadable files are reasons, not errors.
 */
import { constants } from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import picomatch from 'picomatch'
import type { TaskSpec } from '../../core/graph-types.ts'
import { isErrno } from '../../errno.ts'

export type ReadFile =
  | { readonly kind: 'text', readonly text: string }
  | { readonly kind: 'skipped', readonly reason: string }

const MAX_FILE_BYTES = 256 * 1024
const MAX_MATCHED = 40
const SECRET_FOLDERS = /(?:^|\/)\.(?:ssh|aws|gnupg|kube|docker|azure)\//u

const SECRET_NAMES = picomatch([
  '.env*', '*.env', '*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx', '*.ppk', '*.asc', '*.gpg',
  'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '.npmrc', '.yarnrc*', '.pypirc', '.netrc', '_netrc',
  '.git-credentials', '.htpasswd', '.pgpass',
  '*.tfvars', '*.tfstate*', 'service-account*.json', 'kubeconfig*', '.openclaude.json',
], { dot: true, nocase: true })

/** Source files may carry these words in their names. */
const SECRET_WORDS = /^(?:id_|.*(?:credential|secret|passwd|password|token)s?)/iu
const SOURCE_NAME = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|c|h|cc|cpp|hpp|swift|php|vue|svelte|css|scss|html|md|sh|sql)$/iu

export function isSecretFile(path: string): boolean {
  const name = basename(path)
  return SECRET_FOLDERS.test(path) || SECRET_NAMES(name) || (SECRET_WORDS.test(name) && !SOURCE_NAME.test(name))
}

const CONFIG_NAMES = picomatch([
  'tsconfig*.json', 'jsconfig.json', '.oxlintrc*', '.eslintrc*', 'eslint.config.*', 'biome.json*', '.prettierrc*', '.editorconfig',
  'vite.config.*',
  'vitest.config.*',
  'jest.config.*', 'playwright.config.*', 'webpack.config.*', 'rollup.config.*', 'babel.config.*', 'deno.json*',
  'pnpm-workspace.yaml', 'turbo.json', 'nx.json',
  'pyproject.toml', 'setup.cfg', 'tox.ini', 'Cargo.toml', 'go.mod', 'Makefile', 'pom.xml', 'build.gradle*', 'CMakeLists.txt', 'Dockerfile',
], { dot: true })

/** Configuration at the top of the project. */
export function configFiles(files: readonly string[]): readonly string[] {
  return files.filter(path => !path.includes('/') && CONFIG_NAMES(path))
}

export type TaskText = Pick<TaskSpec, 'title' | 'description' | 'acceptanceCriteria' | 'paths'>

const USUAL_ENTRY_POINTS = [
  'src/index.ts', 'src/main.ts', 'src/index.js', 'src/main.js', 'index.ts', 'index.js', 'main.py', 'main.go', 'src/main.rs', 'src/lib.rs',
]

/**
 * Files the task is about, the most certain first: named in its text, matched by its `paths`, the project's entry points, the README.
 * `entryPoints` are what the manifest names.
 */
export function relevantFiles(files: readonly string[], task: TaskText, entryPoints: readonly string[]): readonly string[] {
  const text = [task.title, task.description, ...task.acceptanceCriteria].join('\n')
  const words = new Set(text.split(/[\s`'"()<>[\]{},;]+/u).map(word => word.replace(/^\.\//u, '').replace(/(?::\d+)*[.:!?]*$/u, '')))
  const named = files.filter(path => words.has(path) || (basename(path).includes('.') && words.has(basename(path))))
  const matches = task.paths === undefined || task.paths.length === 0 ? () => false : picomatch([...task.paths], { dot: true })
  const matched = files.filter(path => matches(path)).slice(0, MAX_MATCHED)
  const known = new Set(files)
  const entries = [...entryPoints.map(path => posix.normalize(path)), ...USUAL_ENTRY_POINTS]
  const readme = files.filter(path => /^readme(?:\.\w+)?$/iu.test(path))
  return [...new Set([...named, ...matched, ...entries.filter(path => known.has(path)), ...readme])]
}

export async function readForPrompt(root: string, path: string): Promise<ReadFile> {
  try {
    const handle = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) return skipped('no regular file')
      if (stats.size > MAX_FILE_BYTES) return skipped(`${stats.size} bytes`)
      const bytes = await handle.readFile()
      if (bytes.includes(0) || !isUtf8(bytes)) return skipped('binary')
      const text = bytes.toString('utf8')
      return /-----BEGIN [A-Z ]*PRIVATE KEY-----/u.test(text) ? skipped('holds a private key') : { kind: 'text', text }
    } finally {
      await handle.close()
    }
  } catch (error) {
    return skipped(isErrno(error, 'ELOOP') ? 'a link' : 'unreadable')
  }
}

function skipped(reason: string): ReadFile {
  return { kind: 'skipped', reason }
}
