/**
 * `npm start`: runs the ledger example in a fresh copy of its project, with the simulator in the place of OpenClaude.
 * `npm start -- <command> …` is the command line itself: `npm start -- run my-graph.json --workdir ../app`.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const command = join(root, 'lib', 'cli', 'main.js')

if (!existsSync(command)) run([join(root, 'scripts', 'build.ts')], root, process.env)
const args = process.argv.slice(2)
process.exitCode = args.length > 0 ? run([command, ...args], process.env['INIT_CWD'] ?? process.cwd(), process.env) : runExample()

function runExample(): number {
  const example = join(root, 'examples', 'ledger')
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-openclaude-example-')))
  const project = join(place, 'ledger')
  cpSync(join(example, 'project'), project, { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))
  for (const git of [['init', '-q'], ['add', '-A'], ['-c', 'user.name=example', '-c', 'user.email=example@localhost', 'commit', '-qm', 'Start']]) {
    spawnSync('git', git, { cwd: project, stdio: 'inherit' })
  }
  process.stdout.write(`The ledger example in ${project}, played by the simulator: no model, no network.\n\n`)
  return run([
    command, 'run', join(example, 'graph.json'), '--workdir', project, '--config', join(example, 'config.yaml'),
    '--state-dir', join(place, 'state'), '--executable', join(root, 'lib', 'simulator', 'main.js'),
  ], project, {
    ...process.env,
    PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    HOME: place,
    OPENCLAUDE_SIM_SCENARIO: join(example, 'scenario.json'),
    OPENCLAUDE_SIM_STATE: join(place, 'played'),
  })
}

function run(argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv): number {
  const { status, signal } = spawnSync(process.execPath, argv, { cwd, env, stdio: 'inherit' })
  return status ?? (signal === 'SIGINT' ? 130 : 1)
}
