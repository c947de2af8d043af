/**
 * Everything that must hold, in order of cost: types, lint, dead code, generated files, package, tests, guards.
 * Ends with one line `N passed, N failed`: each stage is one check, each test is one. Arguments go to vitest and then only tests run.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, 'node_modules', '.bin')
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, FORCE_COLOR: '0' }

interface Stage {
  readonly name: string
  readonly argv: readonly string[]
}

const STAGES: readonly Stage[] = [
  { name: 'build', argv: ['node', 'scripts/build.ts'] },
  { name: 'types', argv: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'lint', argv: ['oxlint', '--type-aware', '--disable-nested-config', '--deny-warnings'] },
  { name: 'dead code', argv: ['knip'] },
  { name: 'generated files', argv: ['node', 'scripts/generate-docs.ts', '--check'] },
  { name: 'package', argv: ['publint', '--strict'] },
  { name: 'package types', argv: ['attw', '--pack', '.', '--profile', 'esm-only'] },
  { name: 'guards', argv: ['node', 'scripts/prove-guards.ts'] },
]

interface Counts {
  passed: number
  failed: number
}

async function main(): Promise<void> {
  const args = process.argv.slice(2)
  const counts: Counts = { passed: 0, failed: 0 }
  if (args.length === 0) {
    for (const stage of STAGES) count(counts, stage.name, await run(stage.argv) === 0)
  }
  await tests(args, counts)
  process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed\n`)
  process.exitCode = counts.failed === 0 ? 0 : 1
}

async function tests(args: readonly string[], counts: Counts): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-openclaude-tests-'))
  const file = join(dir, 'results.json')
  const status = await run(['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args])
  try {
    const results = JSON.parse(readFileSync(file, 'utf8')) as { numPassedTests: number, numFailedTests: number }
    counts.passed += results.numPassedTests
    counts.failed += results.numFailedTests
    // A file that fails to load, or an unhandled error, fails the run without a failed test.
    if (status !== 0 && results.numFailedTests === 0) counts.failed += 1
    if (results.numPassedTests === 0) counts.failed += 1
  } catch (error) {
    process.stderr.write(`tests: no results were written (${String(error)})\n`)
    counts.failed += 1
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function count(counts: Counts, name: string, ok: boolean): void {
  process.stdout.write(`${ok ? 'ok' : 'FAILED'}  ${name}\n`)
  if (ok) counts.passed += 1
  else counts.failed += 1
}

function run(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv
  const { promise, resolve } = Promise.withResolvers<number>()
  if (command === undefined) return Promise.resolve(1)
  const child = spawn(command, rest, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
  child.on('error', error => {
    process.stderr.write(`${command}: ${error.message}\n`)
    resolve(1)
  })
  child.on('exit', code => resolve(code ?? 1))
  return promise
}

await main()
