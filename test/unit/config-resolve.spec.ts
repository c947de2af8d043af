import { describe, expect, it } from 'vitest'
import { type ConfigContext, type ConfigLayers, defaultConfig, resolveConfig } from '../../src/config.ts'
import { userConfigPath } from '../../src/config/config-paths.ts'
import { explainConfig } from '../../src/config/explain.ts'
import { CONFIG_KEYS } from '../../src/config/keys.ts'
import type { ConfigOrigin, ResolvedConfig } from '../../src/core/config-types.ts'
import { readConfigFile, readOptionalConfigFile } from '../../src/engine/documents/config-file.ts'
import { failureOf } from '../support/failure.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'

const CLI: ConfigContext = { cwd: '/project', home: '/home/me', env: {}, surface: 'cli' }
const DSH: ConfigContext = { ...CLI, surface: 'dsh' }

/** Written out once more by hand, so that a changed default is a changed test. */
const DEFAULTS: ResolvedConfig = {
  executable: ['openclaude'], workdir: '.', provider: '', model: '', maxTurns: 50, permissionMode: '', extraArgs: [], env: {}, envPass: [], addDirs: [],
  appendSystemPrompt: '', noSessionPersistence: false, keepSessions: false, heartbeat: '30s',
  firstEventTimeoutMs: 120_000, idleTimeoutMs: 240_000, toolTimeoutMs: 660_000, agentToolTimeoutMs: 1_200_000, backgroundTimeoutMs: 600_000, settleTimeoutMs: 30_000,
  maxRuntimeMs: 3_600_000, killGraceMs: 6_000, watchdog: 'enforce', maxStalledRestarts: 2, maxStreamBytes: 1_073_741_824, maxLineBytes: 8_388_608, onEngineDeath: 'adopt',
  maxConcurrency: 2, maxRetriesPerTask: 3, maxReworks: 2, maxSupervisionRounds: 5, maxBudgetUsd: 0, maxBudgetTokens: 0, workspace: 'shared', stateDir: '', storePath: '',
  persistence: true, contextStrategy: 'full', contextMaxTokens: 20_000, test: 'test', lint: 'lint', typecheck: 'typecheck', build: 'build', additionalCommands: [],
  acceptanceTimeoutMs: 600_000, packageManager: '', acceptUnverified: false, supervisorEnabled: true, supervisor: 'none', supervisorProvider: '', supervisorModel: '',
  supervisorMaxTokens: 4_096, supervisorTemperature: 0.2, supervisorTimeoutMs: 120_000, patchMode: 'suggest',
}

const layer = (value: unknown, source: string): { readonly value: unknown, readonly source: string } => ({ value, source })
const flags = (value: unknown): ConfigLayers => ({ flag: layer(value, 'command line') })

describe('defaults (R-45)', () => {
  it('are those of the requirements, key by key, for the command', () => {
    expect(defaultConfig('cli')).toEqual(DEFAULTS)
  })

  it('differ in DSH only in what is accepted without proof and in the advisor (R-35)', () => {
    expect(defaultConfig('dsh')).toEqual({ ...DEFAULTS, acceptUnverified: true, supervisor: 'host' })
  })

  it('are complete without any layer, with absolute folders and concurrency 1 in the shared workspace (R-14)', () => {
    const { config, origins, warnings } = resolveConfig({}, CLI)
    expect(config).toEqual({ ...DEFAULTS, workdir: '/project', stateDir: '/home/me/.local/state/dsh-openclaude', maxConcurrency: 1 })
    expect(origins).toEqual(Object.fromEntries(CONFIG_KEYS.map(key => [key, 'default'])))
    expect(warnings).toEqual([])
  })

  it.each([undefined, null, {}, { model: undefined, env: undefined, executable: undefined }])('stand where a layer is %j', value => {
    expect(resolveConfig(flags(value), CLI)).toEqual(resolveConfig({}, CLI))
  })
})

describe('precedence (SEMANTICS 12)', () => {
  it('is flag, file, user, default for the command, one winner per key, lists replaced and never merged', () => {
    const { config, origins } = resolveConfig({
      user: layer({ model: 'user', provider: 'user', maxTurns: 1, envPass: ['A', 'B'] }, 'user.yaml'),
      file: layer({ model: 'file', provider: 'file', envPass: ['C'] }, 'ci.yaml'),
      ...flags({ model: 'flag' }),
    }, CLI)
    expect([config.model, config.provider, config.maxTurns, config.envPass]).toEqual(['flag', 'file', 1, ['C']])
    const written: Partial<Record<string, ConfigOrigin>> = { model: 'flag', provider: 'file', maxTurns: 'user', envPass: 'file' }
    expect(origins).toEqual({ ...Object.fromEntries(CONFIG_KEYS.map(key => [key, 'default'])), ...written })
  })

  it('is flag, file, row, default in DSH', () => {
    const { config, origins } = resolveConfig({ row: layer({ model: 'row', maxTurns: 2 }, 'row'), file: layer({ model: 'file' }, 'file') }, DSH)
    expect([config.model, config.maxTurns, origins.model, origins.maxTurns]).toEqual(['file', 2, 'file', 'row'])
  })

  it('labels a value with the layer that wrote it, also when it equals the default (R-87)', () => {
    expect(resolveConfig({ row: layer({ maxTurns: 50 }, 'row') }, DSH).origins.maxTurns).toBe('row')
  })

  it('refuses the layer of the other surface', () => {
    expect(failureOf(() => resolveConfig({ row: layer({}, 'row') }, CLI)).code).toBe('OC_INTERNAL')
    expect(failureOf(() => resolveConfig({ user: layer({}, 'user') }, DSH)).code).toBe('OC_INTERNAL')
  })

  it('gives a value that nobody can change', () => {
    const resolved = resolveConfig(flags({ env: { A: 'b' }, additionalCommands: [{ name: 'x', command: 'y' }] }), CLI)
    const parts = [resolved, resolved.config, resolved.origins, resolved.warnings, resolved.config.env, resolved.config.extraArgs, resolved.config.additionalCommands[0]]
    expect(parts.map(part => Object.isFrozen(part))).toEqual(parts.map(() => true))
  })
})

describe('folders', () => {
  it('are absolute: workdir and stateDir below the caller\'s folder, addDirs below workdir', () => {
    const { config } = resolveConfig(flags({ workdir: 'app', addDirs: ['../lib', '/opt', '~/x'], stateDir: 'state' }), CLI)
    expect([config.workdir, config.addDirs, config.stateDir]).toEqual(['/project/app', ['/project/lib', '/opt', '/home/me/x'], '/project/state'])
  })

  it.each([
    ['openclaude', ['openclaude']], ['my cli', ['my cli']], ['./bin/cli', ['/project/bin/cli']], ['~/bin/cli', ['/home/me/bin/cli']], ['/opt/a b/cli', ['/opt/a b/cli']],
    [['node', 'cli.mjs'], ['node', 'cli.mjs']], [['./node', './cli.mjs'], ['/project/node', './cli.mjs']],
  ])('executable %j is never split at spaces (R-13)', (executable, resolved) => {
    expect(resolveConfig(flags({ executable }), CLI).config.executable).toEqual(resolved)
  })

  it('follow XDG, and a relative XDG value counts as not set (SEMANTICS 8)', () => {
    expect(resolveConfig({}, { ...CLI, env: { XDG_STATE_HOME: '/xdg' } }).config.stateDir).toBe('/xdg/dsh-openclaude')
    expect(resolveConfig({}, { ...CLI, env: { XDG_STATE_HOME: 'xdg' } }).config.stateDir).toBe('/home/me/.local/state/dsh-openclaude')
    expect(userConfigPath({ ...CLI, env: { XDG_CONFIG_HOME: '/xdg' } })).toBe('/xdg/dsh-openclaude/config.yaml')
    expect(userConfigPath(CLI)).toBe('/home/me/.config/dsh-openclaude/config.yaml')
  })

  it('storePath is deprecated: its folder becomes stateDir (R-30)', () => {
    const { config, origins, warnings } = resolveConfig({ file: layer({ storePath: '.dsh/openclaude/tasks.jsonl' }, 'f') }, CLI)
    expect([config.stateDir, origins.stateDir]).toEqual(['/project/.dsh/openclaude', 'file'])
    expect(warnings).toEqual([
      'storePath is deprecated; its folder /project/.dsh/openclaude is used as stateDir. Write stateDir instead.',
      'stateDir /project/.dsh/openclaude is inside workdir, so a "git clean" of a child or a commit can take it.',
    ])
  })

  it.each(['../x.jsonl', '/etc/x.jsonl', 'a/../../x.jsonl'])('storePath %s leaves workdir and is refused (R-30)', storePath => {
    expect(failureOf(() => resolveConfig(flags({ storePath }), CLI)).faults.map(fault => fault.path)).toEqual(['$.storePath'])
  })

  it('storePath can\'t stand beside stateDir, and gives way to a stateDir of another layer', () => {
    expect(failureOf(() => resolveConfig(flags({ storePath: 'a/b', stateDir: '/s' }), CLI)).faults).toEqual([
      { path: '$.storePath', message: 'command line: storePath can\'t stand beside stateDir.', suggestion: 'remove storePath' },
    ])
    const { config, warnings } = resolveConfig({ file: layer({ storePath: 'a/b' }, 'f'), ...flags({ stateDir: '/s' }) }, CLI)
    expect([config.stateDir, warnings]).toEqual(['/s', ['storePath (file) is deprecated and ignored, since stateDir (flag) is set.']])
  })
})

describe('rules over several keys', () => {
  const warningsOf = (value: unknown): readonly string[] => resolveConfig(flags(value), CLI).warnings
  const faultsOf = (value: unknown, context = CLI): readonly string[] => failureOf(() => resolveConfig(flags(value), context)).faults.map(fault => `${fault.path} ${fault.message}`)

  it('refuse noSessionPersistence with maxStalledRestarts above 0 when both are written (R-25)', () => {
    expect(faultsOf({ noSessionPersistence: true, maxStalledRestarts: 1 })).toEqual([
      '$.noSessionPersistence command line: noSessionPersistence can\'t be true while maxStalledRestarts is 1, since only a stored session can be resumed.',
    ])
    expect(warningsOf({ noSessionPersistence: true, maxStalledRestarts: 0 })).toEqual([])
  })

  it('lower maxStalledRestarts to 0 for noSessionPersistence when nobody wrote it', () => {
    const { config, warnings } = resolveConfig(flags({ noSessionPersistence: true }), CLI)
    expect([config.maxStalledRestarts, warnings]).toEqual([0, ['noSessionPersistence is on, so a stalled launch can\'t be resumed: maxStalledRestarts is 0.']])
  })

  it('warn of a heartbeat at or above the idle window, unless that is off (R-21)', () => {
    expect(warningsOf({ heartbeat: '240s' })).toEqual([expect.stringMatching(/^heartbeat 240s is not shorter than idleTimeoutMs 240000/)])
    expect(warningsOf({ heartbeat: '239999ms' })).toEqual([])
    expect(warningsOf({ heartbeat: '4m', idleTimeoutMs: 0 })).toEqual([])
  })

  it('warn of a run time below the idle window, and of no bound at all (R-19)', () => {
    expect(warningsOf({ maxRuntimeMs: 239_999 })).toEqual([expect.stringMatching(/^maxRuntimeMs 239999 is below idleTimeoutMs 240000/)])
    expect(warningsOf({ maxRuntimeMs: 240_000 })).toEqual([])
    expect(warningsOf({ maxRuntimeMs: 0 })).toEqual([])
    expect(warningsOf({ maxRuntimeMs: 0, idleTimeoutMs: 0 })).toEqual([expect.stringMatching(/^idleTimeoutMs and maxRuntimeMs are both 0/)])
  })

  it('honour a written concurrency in the shared workspace with a warning (R-27)', () => {
    expect(resolveConfig(flags({ maxConcurrency: 3 }), CLI).config.maxConcurrency).toBe(3)
    expect(warningsOf({ maxConcurrency: 2 })).toEqual([expect.stringMatching(/^maxConcurrency 2 in the shared workspace/)])
    expect(warningsOf({ maxConcurrency: 1 })).toEqual([])
  })

  it('refuse a line limit above the stream limit (F18)', () => {
    expect(faultsOf({ maxStreamBytes: 1_048_576 })).toEqual(['$.maxLineBytes command line: maxLineBytes must not be above maxStreamBytes 1048576; got 8388608.'])
  })

  it('refuse the advisor host outside DSH (R-40)', () => {
    expect(faultsOf({ supervisor: 'host' })).toEqual(['$.supervisor command line: supervisor can be host only inside DSH.'])
    expect(resolveConfig({ row: layer({ supervisor: 'host' }, 'row') }, DSH).config.supervisor).toBe('host')
  })

  it.each([
    [{ supervisor: 'openclaude', provider: 'p', model: 'm' }, 'p', 'm'],
    [{ supervisor: 'openclaude', provider: 'p', model: 'm', supervisorModel: 'big' }, 'p', 'big'],
    [{ supervisor: 'openclaude', provider: 'p', model: 'm', supervisorProvider: 'q' }, 'q', ''],
    [{ supervisor: 'none', provider: 'p', model: 'm' }, '', ''],
  ])('give the advisor openclaude the provider and model of the children where it has none (R-41): %j', (value, provider, model) => {
    const { config } = resolveConfig(flags(value), CLI)
    expect([config.supervisorProvider, config.supervisorModel]).toEqual([provider, model])
  })
})

describe('faults of all layers', () => {
  it('are reported together, with the place in a file and the name of the layer (R-12)', () => {
    const path = tempFile('c.yaml', '# mine\nmaxTurns: 0\nmodle: x\n')
    const failure = failureOf(() => resolveConfig({ file: readConfigFile(path), ...flags({ maxTurns: 1.5, noSessionPersistence: true, maxStalledRestarts: 2 }) }, CLI))
    expect(failure.code).toBe('OC_CONFIG_INVALID')
    expect(failure.faults).toEqual([
      { path: '$.maxTurns', message: `${path}: maxTurns must be a whole number of at least 1; got 0.`, line: 2, column: 1 },
      { path: '$.modle', message: `${path}: "modle" is no configuration key.`, suggestion: 'model', line: 3, column: 1 },
      { path: '$.maxTurns', message: 'command line: maxTurns must be a whole number of at least 1; got 1.5.' },
      {
        path: '$.noSessionPersistence', suggestion: 'noSessionPersistence: false',
        message: 'command line: noSessionPersistence can\'t be true while maxStalledRestarts is 2, since only a stored session can be resumed.',
      },
    ])
    expect(failure.message.split('\n')[0]).toBe('The configuration has 4 faults:')
  })

  it('say so when a layer is no object', () => {
    expect(failureOf(() => resolveConfig(flags(['x']), CLI)).faults).toEqual([
      { path: '$', message: 'command line: the configuration must be an object of keys; got a list of 1.' },
    ])
  })
})

describe('configuration files', () => {
  it('may be JSON or YAML or empty', () => {
    expect(readConfigFile(tempFile('c.json', '{"maxTurns":3}')).value).toEqual({ maxTurns: 3 })
    expect(readConfigFile(tempFile('c.yaml', 'maxTurns: 3\n')).value).toEqual({ maxTurns: 3 })
    expect(resolveConfig({ file: readConfigFile(tempFile('c.yaml', '# empty\n')) }, CLI)).toEqual(resolveConfig({}, CLI))
  })

  it('must exist when named, and need not as the user\'s own', () => {
    const path = `${tempFolder()}/none.yaml`
    expect(failureOf(() => readConfigFile(path))).toEqual({ code: 'OC_CONFIG_INVALID', message: `Configuration file ${path} does not exist.`, faults: [] })
    expect(readOptionalConfigFile(path)).toBeUndefined()
  })

  it('are refused with the place of a syntax fault', () => {
    expect(failureOf(() => readOptionalConfigFile(tempFile('c.json', '{"maxTurns": }'))).faults).toEqual([
      { path: '$', message: 'Expected a value, found "}".', line: 1, column: 14 },
    ])
  })
})

describe('config explain', () => {
  it('shows every key with its origin, and of env only the names (T22)', () => {
    const rows = explainConfig(resolveConfig(flags({ env: { TAVILY_TOKEN: 'tvly-secret' }, maxTurns: 50 }), CLI))
    expect(rows.map(row => row.key)).toEqual(CONFIG_KEYS)
    expect(rows.filter(row => row.origin !== 'default')).toEqual([
      { key: 'maxTurns', value: '50', origin: 'flag' },
      { key: 'env', value: '{"TAVILY_TOKEN":"***"}', origin: 'flag' },
    ])
    expect(JSON.stringify(rows)).not.toContain('tvly-secret')
  })
})
