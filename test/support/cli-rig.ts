/** A project, a state folder and the real command line over the simulator: what a person has, in a temporary folder. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Entry } from '../../src/core/entry-types.ts'
import { readJournal } from '../../src/engine/journal/reader.ts'
import type { Report } from '../../src/report/report-schema.ts'
import type { Scenario } from '../../src/simulator/scenario.ts'
import { isAlive } from './processes.ts'
import { writeScenario, writeSimExecutable } from './sim-rig.ts'
import { tempProject, type TempProject } from './temp-project.ts'
import { tempFolder } from './temp-folder.ts'
import { waitFor } from './wait-for.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface CliEnd {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliProcess {
  readonly pid: number
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<CliEnd>
}

export interface CliRig {
  readonly project: TempProject
  readonly stateDir: string
  readonly home: string
  readonly writeGraph: (graph: unknown) => string
  /** Starts the command; `--workdir`, `--state-dir`, `--executable` are added. */
  readonly start: (args: readonly string[], env?: Readonly<Record<string, string>>, main?: string) => CliProcess
  readonly run: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<CliEnd>
  readonly runDirs: () => readonly string[]
  readonly entries: () => Promise<readonly Entry[]>
  readonly journalPath: () => string
  readonly report: () => Report
}

export interface CliRigOptions {
  readonly scenario?: Scenario
  readonly files?: Readonly<Record<string, string>>
  readonly config?: Readonly<Record<string, unknown>>
}

/** A project with one test script that passes while no file named `broken` exists. */
export const PROVABLE: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'provable', type: 'module', scripts: { test: 'node check.mjs' } }),
  'package-lock.json': '{}',
  'check.mjs': 'import { existsSync } from "node:fs"\nif (existsSync("broken")) { console.error("broken is there"); process.exit(1) }\nconsole.log("# tests 1\\n# pass 1")\n',
}

/** Each task's child writes the file that the task is named after. */
const WRITES_ITS_FILE: Scenario = {
  rules: [{ when: { promptMatches: '^Task: ([^\\n]+)' }, play: [{ do: 'write', path: '{{1}}.txt', content: '{{1}}\n' }, { do: 'text', text: 'Wrote it.' }] }],
}

export function cliRig(options: CliRigOptions = {}): CliRig {
  const project = tempProject(options.files ?? PROVABLE)
  const home = tempFolder()
  const stateDir = join(home, 'state')
  const sim = { ...writeScenario(home, options.scenario ?? WRITES_ITS_FILE), OPENCLAUDE_SIM_HEARTBEAT_MS: '200' }
  const executable = writeSimExecutable(home, sim)
  const config = join(home, 'config.json')
  writeFileSync(config, JSON.stringify({ contextStrategy: 'minimal', killGraceMs: 1500, ...options.config }))
  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}, main = MAIN): CliProcess => {
    const [command = '', ...rest] = args
    const argv = [main, ...command.split(' '), ...rest, '--workdir', project.root, '--state-dir', stateDir, '--executable', executable, '--config', config]
    const child = spawn(process.execPath, argv, {
      cwd: project.root, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] ?? '', HOME: home, IS_SANDBOX: '1', ...env },
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => { output.stdout += text })
    child.stderr.setEncoding('utf8').on('data', (text: string) => { output.stderr += text })
    const ended = new Promise<CliEnd>(resolve => child.on('close', (code, signal) => resolve({ code, signal, ...output })))
    onTestFinished(() => void (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')))
    return { pid: child.pid ?? -1, child, stdout: () => output.stdout, stderr: () => output.stderr, ended }
  }
  const runDirs = (): readonly string[] => {
    if (!existsSync(stateDir)) return []
    return readdirSync(stateDir).map(name => join(stateDir, name, 'runs')).filter(existsSync)
      .flatMap(runs => readdirSync(runs).sort().map(run => join(runs, run)))
  }
  const newest = (): string => runDirs().at(-1) ?? '/nowhere'
  return {
    project, stateDir, home, start, runDirs,
    writeGraph: (graph) => {
      const path = join(home, 'graph.json')
      writeFileSync(path, JSON.stringify(graph))
      return path
    },
    run: (args, env) => start(args, env).ended,
    journalPath: () => join(newest(), 'journal.ndjson'),
    entries: async () => {
      const entries: Entry[] = []
      await readJournal(join(newest(), 'journal.ndjson'), record => void entries.push(record.entry))
      return entries
    },
    report: () => JSON.parse(readFileSync(join(newest(), 'report.json'), 'utf8')) as Report,
  }
}

/** Resolves once the journal of the newest run holds an entry that fits. A torn last line is waited over. */
export async function untilEntry(rig: CliRig, what: string, fits: (entry: Entry) => boolean): Promise<void> {
  await waitFor(what, async () => {
    if (!existsSync(rig.journalPath())) return false
    return (await rig.entries()).some(fits)
  })
}

/** Pids of children and keepers that launches of the newest run recorded and that are still alive. */
export async function livePids(rig: CliRig): Promise<readonly number[]> {
  const pids = (await rig.entries()).flatMap(entry => (entry.kind === 'launch-live' ? [entry.keeper?.pid, entry.child?.pid] : []))
  return pids.filter(pid => pid !== undefined).filter(isAlive)
}
