import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function run(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Ran {
  const [command = '', ...args] = argv
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd, encoding: 'utf8', timeout: 100_000, env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', IS_SANDBOX: '1', ...env },
  })
  return { code: status, stdout, stderr }
}

describe('lib under plain node', () => {
  test('the package is imported by its name and has named exports only', () => {
    const print = "const all = await import('dsh-openclaude'); console.log(JSON.stringify(Object.keys(all).sort()))"
    const { stdout, stderr } = run([process.execPath, '--input-type=module', '-e', print], ROOT)
    expect([JSON.parse(stdout), stderr]).toEqual([[
      'ERROR_CODES', 'OpenClaudeError', 'PRODUCT_VERSION', 'controlRun', 'decodeGraph', 'newExecutorRegistry', 'readGraphFile', 'readRun',
      'reportSchema', 'resolveConfig', 'resumeRun', 'startRun',
    ], ''])
  })

  test('both schemas are there and name what they describe', () => {
    const titles = ['graph', 'report'].map(name => (JSON.parse(readFileSync(join(ROOT, 'lib', 'schemas', `${name}.schema.json`), 'utf8')) as { title: string }).title)
    expect(titles).toEqual(['Task graph of dsh-openclaude', 'Run report of dsh-openclaude'])
  })

  test('with --json every command prints exactly one document, also when it refuses', () => {
    const folder = tempFolder()
    const common = ['--workdir', folder, '--state-dir', join(folder, 'state'), '--executable', join(ROOT, 'lib', 'simulator', 'main.js'), '--json']
    const commands: readonly (readonly [number, ...string[]])[] = [
      [0, 'status'], [2, 'report'], [2, 'recover'], [0, 'clean'], [2, 'resume'], [2, 'abort'], [2, 'retry', 'x', 'y'], [2, 'resolve', 'x', 'y', 'maybe'],
      [2, 'plan', 'missing.json'], [2, 'run', 'missing.json'], [2, 'run'], [2, 'nonsense'], [2, 'status', '--nonsense'], [0, 'doctor'], [0, 'config', 'explain'], [2, 'config'],
    ]
    const ended = commands.map(([, ...words]) => {
      const { code, stdout } = run([process.execPath, join(ROOT, 'lib', 'cli', 'main.js'), ...words, ...common], folder, { HOME: folder })
      return [typeof JSON.parse(stdout) === 'object' ? code : 'no document', ...words]
    })
    expect(ended).toEqual(commands)
  })
})

/** What `npm install <tarball>` does, without a registry: unpacks the package, links the dependencies it declares and nothing else, and its commands. */
function install(tarball: string, folder: string): string {
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'dsh-openclaude')
  const bin = join(modules, '.bin')
  for (const made of [own, bin]) mkdirSync(made, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1'])
  const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
    readonly bin: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(realpathSync(join(ROOT, 'node_modules', name)), join(modules, name))
  }
  for (const [name, file] of Object.entries(manifest.bin)) {
    chmodSync(join(own, file), 0o755)
    symlinkSync(join(own, file), join(bin, name))
  }
  return bin
}

test('the packed tarball, installed into an empty folder, tells its version and does a run with the simulator', () => {
  const folder = tempFolder()
  const outside = tempFolder()
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', outside], { cwd: ROOT, encoding: 'utf8' }).trim()
  const bin = install(join(outside, packed), folder)
  expect(readdirSync(join(folder, 'node_modules', 'dsh-openclaude')).toSorted()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'docs', 'examples', 'lib', 'package.json'])
  expect(run([join(bin, 'dsh-openclaude'), '--version'], folder).stdout).toBe('0.1.0\n')

  writeFileSync(join(folder, 'package.json'), '{ "name": "shop", "type": "module", "scripts": { "test": "node check.mjs" } }')
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  writeFileSync(join(folder, 'check.mjs'), "import { existsSync } from 'node:fs'\nconsole.log('# tests 1\\n# pass 1')\nprocess.exitCode = existsSync('done.txt') ? 0 : 1\n")
  writeFileSync(join(folder, 'graph.json'), '[{ "id": "a", "description": "Write done.txt." }]')
  writeFileSync(join(outside, 'scenario.json'), JSON.stringify({ rules: [{ play: [{ do: 'write', path: 'done.txt', content: 'x' }, { do: 'text', text: 'Wrote it.' }] }] }))
  const ended = run([
    join(bin, 'dsh-openclaude'), 'run', 'graph.json', '--json', '--state-dir', join(outside, 'runs'), '--executable', join(bin, 'openclaude-sim'),
  ], folder, { OPENCLAUDE_SIM_SCENARIO: join(outside, 'scenario.json'), OPENCLAUDE_SIM_STATE: join(outside, 'played'), HOME: outside })
  const report = JSON.parse(ended.stdout) as {
    readonly run: { readonly result: string }
    readonly tasks: readonly { readonly id: string, readonly status: string, readonly verdict: string }[]
  }
  expect([ended.code, report.run.result, report.tasks.map(({ id, status, verdict }) => [id, status, verdict])]).toEqual([0, 'complete', [['a', 'accepted', 'verified']]])
})
