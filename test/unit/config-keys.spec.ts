import { describe, expect, it } from 'vitest'
import { type ConfigContext, resolveConfig } from '../../src/config.ts'
import { heartbeatMs } from '../../src/config/child-keys.ts'
import { CONFIG_KEYS, CONFIG_SCHEMA } from '../../src/config/keys.ts'
import type { ConfigKey } from '../../src/core/config-types.ts'
import { failureOf } from '../support/failure.ts'

const DSH: ConfigContext = { cwd: '/project', home: '/home/me', env: {}, surface: 'dsh' }

const valueOf = (key: ConfigKey, value: unknown): unknown => resolveConfig({ row: { value: { [key]: value }, source: 'row' } }, DSH).config[key]

/** `path | message | suggestion` of the faults of one row. */
function faultsOf(value: Record<string, unknown>): readonly string[] {
  return failureOf(() => resolveConfig({ row: { value, source: 'row' } }, DSH)).faults
    .map(({ path, message, suggestion }) => [path, message, ...(suggestion === undefined ? [] : [suggestion])].join(' | '))
}

/** What follows the key in the message of the only fault. */
function wrong(key: ConfigKey, value: unknown): string {
  const [fault, ...more] = faultsOf({ [key]: value })
  expect(more).toEqual([])
  return (fault ?? '').replace(`$.${key} | row: ${key} `, '')
}

const GOOD: readonly (readonly [ConfigKey, unknown])[] = [
  ['executable', ['node', '/opt/cli.mjs', '--flag']], ['workdir', '/x'], ['provider', 'nvidia-nim'], ['model', 'org/model:free'], ['maxTurns', 1], ['permissionMode', 'plan'],
  ['permissionMode', 'fullAccess'], ['extraArgs', ['--allowed-tools', 'Bash', '--max-budget-usd=1', '-d']], ['env', { A: '', _b1: 'x y' }], ['envPass', ['PATH']], ['addDirs', ['/a']],
  ['appendSystemPrompt', 'Be brief.\nAlways.'], ['noSessionPersistence', false], ['keepSessions', true], ['heartbeat', ''], ['heartbeat', '5s'], ['heartbeat', '5000ms'], ['heartbeat', '1m'],
  ['firstEventTimeoutMs', 1], ['idleTimeoutMs', 0], ['idleTimeoutMs', 2_147_483_647], ['toolTimeoutMs', 1], ['agentToolTimeoutMs', 1], ['backgroundTimeoutMs', 1], ['settleTimeoutMs', 1],
  ['maxRuntimeMs', 0], ['killGraceMs', 0], ['watchdog', 'dry-run'], ['maxStalledRestarts', 0], ['maxStreamBytes', 2 ** 40], ['maxLineBytes', 4_096], ['onEngineDeath', 'end'],
  ['maxConcurrency', 1], ['maxRetriesPerTask', 1], ['maxReworks', 0], ['maxSupervisionRounds', 0], ['maxBudgetUsd', 0.5], ['maxBudgetTokens', 0], ['workspace', 'shared'],
  ['stateDir', '/state'], ['storePath', ''], ['persistence', false], ['contextStrategy', 'minimal'], ['contextStrategy', 'repo-map'], ['contextMaxTokens', 0],
  ['test', 'test:unit'], ['lint', ''], ['typecheck', 'tsc'], ['build', 'build'], ['acceptanceTimeoutMs', 1], ['packageManager', 'bun'], ['packageManager', ''],
  ['acceptUnverified', false], ['supervisorEnabled', false], ['supervisor', 'openclaude'], ['supervisorProvider', 'p'], ['supervisorModel', 'm'], ['supervisorMaxTokens', 1],
  ['supervisorTemperature', 0], ['supervisorTemperature', 2], ['supervisorTimeoutMs', 1], ['patchMode', 'auto'],
  ['additionalCommands', [{ name: 'e2e', command: 'npm run e2e', timeoutMs: 1, required: false, parallel: true }]],
]

const NAME = 'must be empty, or text that does not start with "-" and holds no control characters'
const POSITIVE_MS = 'must be a whole number of milliseconds from 1 to 2147483647 (it can\'t be switched off)'
const OFF_MS = 'must be a whole number of milliseconds from 1 to 2147483647, or 0 for off'
const HEARTBEAT = 'must be empty or a whole number with ms, s or m, from 5s to 2147483647ms'

const BAD: readonly (readonly [ConfigKey, unknown, string])[] = [
  ['executable', '', 'must be text that is not blank, or a list of such texts; got "".'],
  ['executable', 7, 'must be text that is not blank, or a list of such texts; got 7.'],
  ['executable', [], 'must name a program; got an empty list. | openclaude'],
  ['workdir', ' ', 'must be text that is not blank; got " ".'],
  ['workdir', 'a\0b', 'must not hold a NUL character; got "a\\u0000b".'],
  ['provider', 1, `${NAME}; got 1.`],
  ['model', '--yolo', `${NAME}; got "--yolo".`],
  ['maxTurns', 0, 'must be a whole number of at least 1; got 0.'],
  ['maxTurns', 1.5, 'must be a whole number of at least 1; got 1.5.'],
  ['maxTurns', '50', 'must be a whole number of at least 1; got "50".'],
  ['permissionMode', 'yolo', 'must be one of "" (empty), acceptEdits, bypassPermissions, default, dontAsk, fullAccess, plan, auto; got "yolo".'],
  ['permissionMode', 'acceptedits', 'must be one of "" (empty), acceptEdits, bypassPermissions, default, dontAsk, fullAccess, plan, auto; got "acceptedits". | acceptEdits'],
  ['extraArgs', '--x', 'must be a list of texts; got "--x".'],
  ['env', 'SECRET=1', 'must be an object of names and texts; got string.'],
  ['envPass', 'PATH', 'must be a list of texts; got "PATH".'],
  ['addDirs', {}, 'must be a list of texts; got an empty object.'],
  ['appendSystemPrompt', 'x'.repeat(65_537), expect.stringMatching(/^must be text of at most 65536 bytes; got "x+…"\.$/) as unknown as string],
  ['noSessionPersistence', 'yes', 'must be true or false; got "yes".'],
  ['keepSessions', 1, 'must be true or false; got 1.'],
  ...['30', '0s', '1s', '4999ms', '1h', '0.5m', '-5s', ' 5s', '2147483648ms', '35792m'].map((value): readonly [ConfigKey, unknown, string] => ['heartbeat', value, `${HEARTBEAT}; got "${value}".`]),
  ['heartbeat', 30, `${HEARTBEAT}; got 30.`],
  ['firstEventTimeoutMs', 0, `${POSITIVE_MS}; got 0.`],
  ['idleTimeoutMs', -1, `${OFF_MS}; got -1.`],
  ['idleTimeoutMs', 2_147_483_648, `${OFF_MS}; got 2147483648.`],
  ['idleTimeoutMs', '4m', `${OFF_MS}; got "4m".`],
  ['toolTimeoutMs', 0, `${POSITIVE_MS}; got 0.`],
  ['agentToolTimeoutMs', 0, `${POSITIVE_MS}; got 0.`],
  ['backgroundTimeoutMs', 0, `${POSITIVE_MS}; got 0.`],
  ['settleTimeoutMs', 0, `${POSITIVE_MS}; got 0.`],
  ['maxRuntimeMs', 0.5, `${OFF_MS}; got 0.5.`],
  ['killGraceMs', -1, 'must be a whole number of milliseconds from 0 to 2147483647; got -1.'],
  ['watchdog', 'off', 'must be one of enforce, dry-run; got "off".'],
  ['maxStalledRestarts', -1, 'must be a whole number of at least 0; got -1.'],
  ['maxStreamBytes', 1, 'must be a whole number of at least 1048576; got 1.'],
  ['maxLineBytes', 1, 'must be a whole number from 4096 to 268435456; got 1.'],
  ['onEngineDeath', 'die', 'must be one of adopt, end; got "die".'],
  ['maxConcurrency', 0, 'must be a whole number of at least 1; got 0.'],
  ['maxRetriesPerTask', 0, 'must be a whole number of at least 1; got 0.'],
  ['maxReworks', -1, 'must be a whole number of at least 0; got -1.'],
  ['maxSupervisionRounds', -1, 'must be a whole number of at least 0; got -1.'],
  ['maxBudgetUsd', -1, 'must be a number of at least 0; got -1.'],
  ['maxBudgetUsd', Number.POSITIVE_INFINITY, 'must be a number of at least 0; got Infinity.'],
  ['maxBudgetTokens', 0.5, 'must be a whole number of at least 0; got 0.5.'],
  ['workspace', 'clone', 'must be one of shared; got "clone".'],
  ['stateDir', '', 'must be text that is not blank; got "".'],
  ['storePath', 1, 'must be text; got 1.'],
  ['persistence', 0, 'must be true or false; got 0.'],
  ['contextStrategy', 'fll', 'must be one of full, minimal, repo-map; got "fll". | full'],
  ['contextMaxTokens', -1, 'must be a whole number of at least 0; got -1.'],
  ['test', '-x', `${NAME}; got "-x".`],
  ['lint', false, `${NAME}; got false.`],
  ['typecheck', 'a\nb', `${NAME}; got "a\\nb".`],
  ['build', [], `${NAME}; got an empty list.`],
  ['additionalCommands', 'npm test', 'must be a list of command lines or objects with name and command; got "npm test".'],
  ['acceptanceTimeoutMs', 0, `${POSITIVE_MS}; got 0.`],
  ['packageManager', 'pnpn', 'must be one of "" (empty), npm, pnpm, yarn, bun; got "pnpn". | pnpm'],
  ['acceptUnverified', 'no', 'must be true or false; got "no".'],
  ['supervisorEnabled', null, 'has no value; leave the key out for the default.'],
  ['supervisor', 'llm', 'must be one of none, openclaude, host; got "llm".'],
  ['supervisorProvider', {}, `${NAME}; got an empty object.`],
  ['supervisorModel', '-m', `${NAME}; got "-m".`],
  ['supervisorMaxTokens', 0, 'must be a whole number of at least 1; got 0.'],
  ['supervisorTemperature', 2.1, 'must be a number from 0 to 2; got 2.1.'],
  ['supervisorTemperature', -0.1, 'must be a number from 0 to 2; got -0.1.'],
  ['supervisorTimeoutMs', 0, `${POSITIVE_MS}; got 0.`],
  ['patchMode', 'apply', 'must be one of suggest, auto; got "apply".'],
]

describe('every key of the configuration (R-13 to R-43)', () => {
  it.each(GOOD)('%s takes %j', (key, value) => {
    expect(valueOf(key, value)).toEqual(value)
  })

  it.each(BAD)('%s refuses %j', (key, value, message) => {
    expect(wrong(key, value)).toEqual(message)
  })

  it('has a good and a bad value in these tables, a meaning and a rule', () => {
    expect(CONFIG_KEYS.filter(key => !GOOD.some(([name]) => name === key))).toEqual([])
    expect(CONFIG_KEYS.filter(key => !BAD.some(([name]) => name === key))).toEqual([])
    expect(CONFIG_KEYS.filter(key => CONFIG_SCHEMA[key].meaning === '' || !CONFIG_SCHEMA[key].bad.startsWith('error: must ')).toSorted()).toEqual(['additionalCommands', 'env', 'extraArgs'])
  })
})

describe('heartbeatMs', () => {
  it.each([['5s', 5_000], ['250ms', 250], ['2m', 120_000], ['', null], ['30', null], ['1h', null]])('%j is %j', (heartbeat, ms) => {
    expect(heartbeatMs(heartbeat)).toBe(ms)
  })
})

describe('extraArgs (R-23)', () => {
  it.each([
    [['prompt'], 0, 'must start with a flag, since the CLI would read "prompt" as a prompt'],
    [['--x', '--', 'y'], 1, 'must not hold "--": what follows would be read as a prompt'],
    [['--max-turns', '3'], 0, 'must not hold --max-turns: use maxTurns'],
    [['--model=x'], 0, 'must not hold --model: use model'],
    [['--x', '--session-id=1'], 1, 'must not hold --session-id: sessions are chosen per launch'],
    [['--output-format', 'text'], 0, 'must not hold --output-format: it is set for every launch'],
    [['-p'], 0, 'must not hold -p: it is set for every launch'],
    [['-dr'], 0, 'must not hold -r: sessions are chosen per launch'],
    [['--yolo'], 0, 'must not hold --yolo: use permissionMode'],
    [['--version'], 0, 'must not hold --version: the child would not do the task and end'],
  ])('refuses %j', (extraArgs, index, message) => {
    expect(faultsOf({ extraArgs })).toEqual([`$.extraArgs[${index}] | row: extraArgs ${message}.`])
  })

  it('reports each flag of a bundle, and entries that are no text', () => {
    expect(faultsOf({ extraArgs: ['-pc'] })).toHaveLength(2)
    expect(faultsOf({ extraArgs: ['--x', 3] })).toEqual(['$.extraArgs[1] | row: extraArgs: each entry must be text; got 3.'])
  })
})

describe('env (R-24, T22)', () => {
  it('refuses bad names and values that are no text, and never shows a value', () => {
    expect(faultsOf({ env: { 'A-B': 'secret', PORT: 3_000, NONE: null, NUL: 'sec\0ret' } })).toEqual([
      '$.env.A-B | row: env: A-B is no name of a variable (letters, digits and "_", no digit first).',
      '$.env.PORT | row: env: PORT must be text, so write it in quotes; got a number.',
      '$.env.NONE | row: env: NONE must be text, so write it in quotes; got a null.',
      '$.env.NUL | row: env: NUL must not hold a NUL character.',
    ])
  })
})

describe('additionalCommands (R-39)', () => {
  it('names command lines after their text, each name once', () => {
    expect(valueOf('additionalCommands', ['npm run e2e -- --fast', './check.sh', './check.sh', 'test', '&&&'])).toEqual([
      { name: 'npm-run-e2e-fast', command: 'npm run e2e -- --fast' },
      { name: 'check.sh', command: './check.sh' },
      { name: 'check.sh-2', command: './check.sh' },
      { name: 'test-2', command: 'test' },
      { name: 'command', command: '&&&' },
    ])
  })

  it.each([
    [[''], '$.additionalCommands[0] | row: additionalCommands: a command must be text that is not blank; got "".'],
    [[{ name: 'test', command: 'x' }], '$.additionalCommands[0] | row: additionalCommands: the name "test" is taken by a role.'],
    [[{ name: 'x', command: 'x' }, { name: 'x', command: 'y' }], '$.additionalCommands[1] | row: additionalCommands: the name "x" is taken by another command.'],
    [[{ name: 'x', command: 'x', timeout: 1 }], '$.additionalCommands[0].timeout | row: additionalCommands: "timeout" is no key of a check; known are name, command, timeoutMs, required, parallel. | timeoutMs'],
    [[3], '$.additionalCommands[0] | row: additionalCommands: a check must be a role name or an object with name and command; got 3.'],
  ])('refuses %j', (additionalCommands, fault) => {
    expect(faultsOf({ additionalCommands })).toEqual([fault])
  })
})

describe('unknown keys (R-12, T24)', () => {
  it.each([
    ['idleTimeoutMS', 'idleTimeoutMs'], ['maxConcurency', 'maxConcurrency'], ['cwd', 'workdir'], ['concurrency', 'maxConcurrency'], ['retries', 'maxRetriesPerTask'], ['colour', undefined],
  ])('%s gets the nearest valid name', (key, suggestion) => {
    const fault = `$.${key} | row: "${key}" is no configuration key.`
    expect(faultsOf({ [key]: 1 })).toEqual([suggestion === undefined ? fault : `${fault} | ${suggestion}`])
  })

  it('are named with the place where they belong when they are one level too deep', () => {
    expect(faultsOf({ openclaude: { idleTimeoutMs: 1, maxTurns: 2 } })).toEqual([
      '$.openclaude.idleTimeoutMs | row: "openclaude.idleTimeoutMs" is one level too deep; write idleTimeoutMs at the top level. | idleTimeoutMs',
      '$.openclaude.maxTurns | row: "openclaude.maxTurns" is one level too deep; write maxTurns at the top level. | maxTurns',
    ])
    expect(faultsOf({ supervisor: { model: 'x' } })).toContain(
      '$.supervisor.model | row: "supervisor.model" is one level too deep; write supervisorModel at the top level. | supervisorModel',
    )
  })

  it('are sent to the graph file when they belong to a task', () => {
    expect(faultsOf({ checks: [] })).toEqual(['$.checks | row: "checks" is no configuration key; it belongs to a task of the graph file.'])
  })
})
