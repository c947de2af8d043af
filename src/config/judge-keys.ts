/** Keys about prompts, acceptance checks and the advisor. */
import { decodeCheck } from '../core/decode-checks.ts'
import { faultList, itemPath } from '../core/fault-list.ts'
import { CHECK_ROLES } from '../core/graph-types.ts'
import type { ExtraCommand } from '../core/config-types.ts'
import { observed } from '../core/observed.ts'
import { commandLine, finiteNumber, type Rule } from '../core/value-rules.ts'
import { choiceKey, flagKey, type KeyPlace, type KeySpec, millisecondsKey, nameKey, numberKey, wholeKey } from './key-spec.ts'

const temperature: Rule = value => {
  return finiteNumber(value) === null && Number(value) >= 0 && Number(value) <= 2 ? null : 'must be a number from 0 to 2'
}

const scriptKey = (role: string): KeySpec<string> => nameKey({
  fallback: role,
  meaning: `Package script for the check "${role}". Empty = this check is not run.`,
  note: 'a script that does not exist: the check is skipped, with its name',
})

const additionalCommands: KeySpec<readonly ExtraCommand[]> = {
  type: 'list of texts or objects',
  meaning: 'More acceptance commands, run by sh as they are, after the four roles: a command line, '
    + 'or { name, command, timeoutMs, required, parallel }.',
  bad: 'error: names must be unique and no role; a red one rejects the attempt',
  fallback: () => [],
  decode(value, place) {
    if (!Array.isArray(value)) {
      place.report(`must be a list of command lines or objects with name and command; got ${observed(value)}`)
      return null
    }
    const commands: ExtraCommand[] = []
    const taken = new Set<string>(CHECK_ROLES)
    value.forEach((item: unknown, index) => {
      const path = itemPath(place.path, index)
      const command = typeof item === 'string' ? fromCommandLine(item, taken, place, path) : fromObject(item, taken, place, path)
      if (command === null) return
      taken.add(command.name)
      commands.push(command)
    })
    return commands.length === value.length ? commands : null
  },
}

const ENTRY = 'entry'

function fromCommandLine(command: string, taken: ReadonlySet<string>, place: KeyPlace, path: string): ExtraCommand | null {
  const wrong = commandLine(command)
  if (wrong !== null) {
    place.report(`: a command ${wrong}; got ${observed(command)}`, { path })
    return null
  }
  return { name: freeName(command, taken), command }
}

function fromObject(item: unknown, taken: ReadonlySet<string>, place: KeyPlace, path: string): ExtraCommand | null {
  const faults = faultList()
  const command = decodeCheck(item, { subject: ENTRY, path, faults })
  for (const fault of faults.all()) place.report(
    `: ${fault.message.slice(ENTRY.length + 2, -1)}`, { path: fault.path, suggestion: fault.suggestion },
  )
  if (command === null || !taken.has(command.name)) return command
  place.report(
    `: the name ${observed(command.name)} is taken by ${CHECK_ROLES.some(role => role === command.name) ? 'a role' : 'another command'}`,
    { path },
  )
  return null
}

/** `npm run e2e -- --fast` becomes `npm-run-e2e-fast`, with a number where that is taken. */
function freeName(command: string, taken: ReadonlySet<string>): string {
  const base = command.replace(/[^A-Za-z0-9._]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '').slice(0, 40) || 'command'
  let name = base
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`
  return name
}

export const JUDGE_KEYS = {
  contextStrategy: choiceKey(
    ['full', 'minimal', 'repo-map'], { fallback: 'full', meaning: 'How much of the project is described in a prompt.' },
  ),
  contextMaxTokens: wholeKey({ least: 0, fallback: 20_000, meaning: 'Soft cap of that description, in tokens.' }),
  test: scriptKey('test'),
  lint: scriptKey('lint'),
  typecheck: scriptKey('typecheck'),
  build: scriptKey('build'),
  additionalCommands,
  acceptanceTimeoutMs: millisecondsKey({ zero: 'refused', fallback: 600_000, meaning: 'Longest time of one acceptance command.' }),
  packageManager: choiceKey(['', 'npm', 'pnpm', 'yarn', 'bun'], { fallback: '', meaning: 'Runs the scripts. Empty = from the lockfile.' }),
  acceptUnverified: flagKey({
    fallback: surface => surface === 'dsh',
    meaning: 'Accept an attempt that no check could prove. Its verdict says "unverified" either way. '
      + 'Default: false for the command, true in DSH.',
  }),
  supervisorEnabled: flagKey({ fallback: true, meaning: 'false: no advisor is asked, the policy decides.' }),
  supervisor: choiceKey(['none', 'openclaude', 'host'], {
    fallback: surface => surface === 'dsh' ? 'host' : 'none',
    meaning: 'Who advises. none: the policy alone. openclaude: OpenClaude without tools. host: the model of the DSH host. '
      + 'Default: none for the command, host in DSH.',
    note: 'host outside DSH: error',
  }),
  supervisorProvider: nameKey({
    fallback: '', meaning: 'Provider of the advisor. Empty = provider for the advisor openclaude, the host\'s own default for host.',
  }),
  supervisorModel: nameKey({ fallback: '', meaning: 'Model of the advisor. Empty = as for supervisorProvider.' }),
  supervisorMaxTokens: wholeKey({ least: 1, fallback: 4_096, meaning: 'Longest answer of the advisor, in tokens.' }),
  supervisorTemperature: numberKey({ rule: temperature, fallback: 0.2, meaning: 'Temperature of the advisor.' }),
  supervisorTimeoutMs: millisecondsKey({ zero: 'refused', fallback: 120_000, meaning: 'Longest time of one answer of the advisor.' }),
  patchMode: choiceKey(
    ['suggest', 'auto'],
    { fallback: 'suggest', meaning: 'Patches of the advisor. suggest: recorded only. auto: applied and judged again.' },
  ),
} satisfies Record<string, KeySpec<unknown>>
