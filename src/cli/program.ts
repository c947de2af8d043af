/** The command line: names, options and help texts. Each command's work is a function in `commands/`. */
import { Command, CommanderError, Option } from 'commander'
import { PRODUCT_VERSION } from '../version.ts'
import { OpenClaudeError } from '../errors.ts'
import { exitCodeOfError } from './exit-code.ts'
import type { CommonOptions } from './options.ts'
import { createOutput, renderError, type Output } from './output.ts'

type Action = (args: readonly string[], options: CommonOptions & Record<string, unknown>, output: Output) => Promise<number>

interface CommandSpec {
  readonly usage: string
  readonly about: string
  readonly options?: readonly (readonly [flags: string, about: string])[]
  readonly load: () => Promise<Action>
}

const RUNNING: readonly (readonly [string, string])[] = [
  ['--abort-on-stdin-eof', 'stop gracefully when standard input ends'],
  ['--plain', 'plain progress lines even on a terminal'],
]

const COMMANDS: readonly CommandSpec[] = [
  {
    usage: 'run <graph>',
    about: 'run a task graph file, or a request in quotes as one task',
    options: [['--new', 'abort an interrupted run of this repository first'], ...RUNNING],
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    usage: 'plan <graph>',
    about: 'validate a graph and print waves, critical path and the commands that would run; starts nothing',
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    usage: 'status [run]',
    about: 'show the newest run, or the one given',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    usage: 'resume [run]',
    about: 'go on with an interrupted run: adopt what still runs, relaunch what does not',
    options: RUNNING,
    load: async () => (await import('./commands/resume.ts')).resumeCommand,
  },
  {
    usage: 'retry <run> <task>',
    about: 'reopen a failed, escalated or cancelled task with fresh attempts',
    options: [['--guidance <text>', 'text for the end of the next prompt'], ...RUNNING],
    load: async () => (await import('./commands/retry.ts')).retryCommand,
  },
  {
    usage: 'resolve <run> <task> <answer>',
    about: 'answer a hand-off: accept, retry or drop; the verdict stays as it is',
    options: [['--note <text>', 'why; kept in the journal and the report'], ...RUNNING],
    load: async () => (await import('./commands/resolve.ts')).resolveCommand,
  },
  {
    usage: 'abort [run]',
    about: 'end a run and its children',
    load: async () => (await import('./commands/abort.ts')).abortCommand,
  },
  {
    usage: 'report [run]',
    about: 'write report.json and report.md anew and say where they are',
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
  {
    usage: 'recover [run]',
    about: 'list attempts that were not accepted and what is kept of each',
    load: async () => (await import('./commands/recover.ts')).recoverCommand,
  },
  {
    usage: 'clean [run]',
    about: 'remove finished runs and the sessions they made',
    options: [['--older-than <days>', 'only runs that ended longer ago'], ['--dry-run', 'only say what would be removed']],
    load: async () => (await import('./commands/clean.ts')).cleanCommand,
  },
  {
    usage: 'doctor',
    about: 'check this machine: Node, executable, root rule, state directory, project commands',
    options: [['--live', 'let OpenClaude answer one prompt in exactly the environment of a child'], ['--salvage [run]', 'repair the damaged journal of a run; the original is kept']],
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
]

/** Runs one command line. Never throws; resolves to the exit code (SEMANTICS 2). */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  let result = 0
  const program = common(new Command('dsh-openclaude'))
    .description('Runs a graph of coding tasks with OpenClaude, watches every child, and accepts only what the project\'s own commands prove.')
    .version(PRODUCT_VERSION)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'dsh-openclaude: ')) })
    .showHelpAfterError('  add --help for the options')
  const perform = async (load: CommandSpec['load'], args: readonly string[], options: CommonOptions & Record<string, unknown>): Promise<void> => {
    const output = createOutput(options.json === true)
    result = await guarded(output, async () => (await load())(args, options, output))
  }
  for (const spec of COMMANDS) {
    const command = common(program.command(spec.usage).description(spec.about)).exitOverride()
    for (const [flags, about] of spec.options ?? []) command.option(flags, about)
    command.action(async (...given: unknown[]) => {
      await perform(spec.load, positional(given), command.optsWithGlobals())
    })
  }
  const config = program.command('config').description('look at the configuration').exitOverride()
  const explain = common(config.command('explain').description('every key, its value and where the value came from')).exitOverride()
  explain.action(async () => perform(async () => (await import('./commands/config-explain.ts')).configExplainCommand, [], explain.optsWithGlobals()))
  program.command('sim', 'play OpenClaude from a scenario', { hidden: true })
  return await parse(program, argv) ?? result
}

/** Null when the command line was understood and a command ran. */
async function parse(program: Command, argv: readonly string[]): Promise<number | null> {
  const [first, ...rest] = argv
  if (first === 'sim') return (await import('./commands/sim.ts')).simCommand(rest)
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return null
  } catch (error) {
    if (error instanceof CommanderError) return refused(error, argv.includes('--json'))
    throw error
  }
}

/** Help and version are answers; everything else of commander is a fault of the command line, already told on standard error. */
function refused(error: CommanderError, json: boolean): number {
  if (error.exitCode === 0) return 0
  const message = error.code === 'commander.help' ? 'a command is missing' : error.message.replace(/^error: /, '')
  const usage = new OpenClaudeError('OC_USAGE', message, { subject: 'command line', fix: 'dsh-openclaude --help' })
  createOutput(json).document({ error: errorDocument(usage) })
  return usage.exitCode
}

async function guarded(output: Output, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    for (const line of renderError(error)) output.warn(line)
    output.document({ error: errorDocument(error) })
    return exitCodeOfError(error)
  }
}

function errorDocument(error: unknown): unknown {
  if (!(error instanceof OpenClaudeError)) return { code: 'OC_INTERNAL', message: error instanceof Error ? error.message : String(error), faults: [] }
  return { code: error.code, message: error.message, subject: error.subject ?? null, fix: error.fix ?? null, faults: error.faults }
}

function positional(given: readonly unknown[]): string[] {
  return given.filter(value => typeof value === 'string')
}

function common(command: Command): Command {
  return command
    .option('--workdir <folder>', 'the project (default: here)')
    .option('--config <file>', 'configuration file, YAML or JSON')
    .option('--state-dir <folder>', 'where runs are kept')
    .option('--executable <program>', 'OpenClaude: a name on PATH or a path')
    .option('--max-concurrency <n>', 'tasks at work at the same time')
    .addOption(new Option('--set <key=value>', 'any configuration key; may be given several times')
      .argParser((pair: string, before: readonly string[] | undefined) => [...before ?? [], pair]))
    .option('--json', 'one JSON document on standard output, all else on standard error')
}
