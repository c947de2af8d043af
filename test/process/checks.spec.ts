import { mkdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OpenClaudeError } from '../../src/errors.ts'
import { checksFor, repinChecks, resolveChecks, type CheckConfig, type ResolvedChecks } from '../../src/supervision/checks.ts'
import { taskSpec } from '../support/graph-values.ts'
import { tempProject } from '../support/temp-project.ts'

const CONFIG: CheckConfig = { lint: 'lint', typecheck: 'typecheck', build: 'build', test: 'test', additionalCommands: [], acceptanceTimeoutMs: 600_000, packageManager: '' }

const manifest = (scripts: Readonly<Record<string, string>>, more: object = {}): string => JSON.stringify({ name: 'app', scripts, ...more })

function resolve(files: Readonly<Record<string, string>>, config: Partial<CheckConfig> = {}): Promise<ResolvedChecks> {
  return resolveChecks(tempProject(files).root, { ...CONFIG, ...config })
}

const commands = (resolved: ResolvedChecks): readonly string[] => resolved.checks.map(check => check.argv === null ? `${check.name} skipped: ${check.skipReason}` : `${check.name}: ${check.display}`)

describe('the checks of a run', () => {
  it('are the scripts of the roles in order, then the extra commands; absent scripts are skipped with the reason (R-36, R-39, R-93)', async () => {
    const resolved = await resolve(
      { 'package.json': manifest({ test: 'node --test', pretest: 'node prepare.js', lint: 'eslint .', 'check-types': 'tsc' }) },
      { additionalCommands: [{ name: 'smoke', command: 'node smoke.js && echo ok', timeoutMs: 5, required: false, parallel: true }] },
    )
    const role = { timeoutMs: 600_000, parallel: false, expectTests: null, required: true, skipReason: null }
    expect(resolved).toEqual({
      manager: 'npm',
      warnings: [],
      checks: [
        { ...role, name: 'lint', role: 'lint', argv: ['npm', 'run', 'lint'], display: 'npm run lint', scriptText: 'lint: eslint .\n', pinned: '(eslint .\n)' },
        { ...role, name: 'typecheck', role: 'typecheck', argv: ['npm', 'run', 'check-types'], display: 'npm run check-types', scriptText: 'check-types: tsc\n', pinned: '(tsc\n)' },
        { ...role, name: 'build', role: 'build', argv: null, display: '', scriptText: '', skipReason: 'package.json has no script "build"' },
        {
          ...role, name: 'test', role: 'test', argv: ['npm', 'run', 'test'], display: 'npm run test',
          scriptText: 'pretest: node prepare.js\ntest: node --test\n', pinned: '(node prepare.js\n) && (node --test\n)',
        },
        {
          name: 'smoke', role: 'extra', argv: ['sh', '-c', 'node smoke.js && echo ok'], display: 'node smoke.js && echo ok', scriptText: '',
          skipReason: null, timeoutMs: 5, required: false, parallel: true, expectTests: null,
        },
      ],
    })
  })

  it('are refused together when the configuration names scripts that do not exist (R-36)', async () => {
    const failure = resolve({ 'package.json': manifest({ test: 'x' }) }, { test: 'unit', lint: 'style', build: 'build' })
    await expect(failure).rejects.toBeInstanceOf(OpenClaudeError)
    await expect(failure).rejects.toMatchObject({
      code: 'OC_CONFIG_INVALID',
      faults: [
        { path: '$.lint', message: 'names the script "style", but package.json has no script "style"' },
        { path: '$.test', message: 'names the script "unit", but package.json has no script "unit"' },
      ],
    })
  })

  it('take a configured script in the place of the usual one (R-36)', async () => {
    expect(commands(await resolve({ 'package.json': manifest({ test: 'x', 'test:ci': 'y' }) }, { test: 'test:ci' }))[3]).toBe('test: npm run test:ci')
  })

  it('are switched off by an empty name (R-36)', async () => {
    expect(commands(await resolve({ 'package.json': manifest({ test: 'x' }) }, { test: '' }))[3]).toBe('test skipped: test is switched off')
  })

  it.each(['echo "Error: no test specified" && exit 1', 'true', ':', 'exit 0', 'echo none', ' echo \'no tests yet\' && exit 0 '])(
    'skip a script that proves nothing by succeeding: %s (T9)', async text => {
      expect(commands(await resolve({ 'package.json': manifest({ test: text }) }))[3]).toBe(`test skipped: the script "test" does nothing (${text})`)
    })

  it.each(['vitest run || true', 'vitest run; true', 'eslint . || exit 0', 'jest ; exit 0;', 'mocha || :', 'vitest run || echo failed', 'tsc\ntrue', 'vitest & wait; true'])(
    'skip a script that can\'t fail: %s (T9)', async text => {
      expect(commands(await resolve({ 'package.json': manifest({ test: text }) }))[3]).toBe(`test skipped: the script "test" can't fail (${text})`)
    })

  it.each(['vitest run && true', '(vitest || true) && tsc', 'test "$CI" || true && vitest', 'a; b || exit 1', 'grep "|| true" x', "grep -q '; true' x", 'rm x || true; vitest'])('run a script that can fail: %s', async text => {
    expect(commands(await resolve({ 'package.json': manifest({ test: text }) }))[3]).toBe('test: npm run test')
  })

  it.each(['echo start && vitest run', 'echo `vitest`', 'echo x; vitest', 'echo $(vitest)', 'true && vitest', 'exit 0 || vitest'])('run a script that does more: %s', async text => {
    expect(commands(await resolve({ 'package.json': manifest({ test: text }) }))[3]).toBe('test: npm run test')
  })

  it('are all skipped, with one reason, where the manifest is missing or broken', async () => {
    expect(commands(await resolve({}))[0]).toBe('lint skipped: there is no package.json')
    const broken = await resolve({ 'package.json': '{"scripts": {"test": 1}}' })
    expect(commands(broken)[3]).toMatch(/^test skipped: package\.json can't be read: scripts\.test: /u)
    expect(broken.warnings).toHaveLength(1)
  })
})

describe('the package manager', () => {
  it.each([
    ['npm', { 'package-lock.json': '' }], ['npm', { 'npm-shrinkwrap.json': '' }], ['pnpm', { 'pnpm-lock.yaml': '' }], ['yarn', { 'yarn.lock': '' }],
    ['bun', { 'bun.lock': '' }], ['bun', { 'bun.lockb': '' }], ['npm', {}],
  ])('is %s by %j (R-38)', async (manager, lockfile) => {
    const resolved = await resolve({ 'package.json': manifest({ test: 'x' }), ...lockfile as Record<string, string> })
    expect([resolved.manager, resolved.checks[3]?.argv, resolved.warnings]).toEqual([manager, [manager, 'run', 'test'], []])
  })

  it('is chosen among several lockfiles in the order pnpm, yarn, bun, npm, with a warning that names them (R-38)', async () => {
    const files = { 'package.json': manifest({}), 'package-lock.json': '', 'yarn.lock': '', 'bun.lock': '' }
    const resolved = await resolve(files)
    expect([resolved.manager, resolved.warnings]).toEqual(['yarn', [
      'Lockfiles of several package managers: yarn.lock, bun.lock, package-lock.json; using yarn (the order pnpm, yarn, bun, npm decides). Remove the stale ones, or set packageManager.',
    ]])
    expect((await resolve({ ...files, 'pnpm-lock.yaml': '' })).manager).toBe('pnpm')
  })

  it('is the one of the packageManager field before any lockfile, and the configured one before both (R-38)', async () => {
    const files = { 'package.json': manifest({}, { packageManager: 'npm@11.0.0' }), 'pnpm-lock.yaml': '' }
    expect((await resolve(files)).manager).toBe('npm')
    expect((await resolve(files, { packageManager: 'bun' })).manager).toBe('bun')
  })

  it('comes from the top of the repository for a package below it, and from nowhere above that', async () => {
    const outer = tempProject({ 'yarn.lock': '', 'repo/pnpm-lock.yaml': '', 'repo/packages/a/package.json': manifest({}), 'plain/package.json': manifest({}) })
    mkdirSync(outer.path('repo/.git'))
    expect((await resolveChecks(outer.path('repo/packages/a'), CONFIG)).manager).toBe('pnpm')
    expect((await resolveChecks(outer.path('plain'), CONFIG)).manager).toBe('npm')
  })
})

describe('the checks of a task', () => {
  const project = { 'package.json': manifest({ test: 'node --test', lint: 'eslint .' }) }

  it('are the run\'s own when the task has none, with its timeout and its number of tests', async () => {
    const resolved = await resolve(project, { additionalCommands: [{ name: 'smoke', command: 's', timeoutMs: 5 }] })
    const checks = checksFor(taskSpec({ expectTests: 3, timeouts: { acceptanceTimeoutMs: 9000 } }), resolved, CONFIG)
    expect(checks.map(check => [check.name, check.timeoutMs, check.expectTests])).toEqual([
      ['lint', 9000, null], ['typecheck', 9000, null], ['build', 9000, null], ['test', 9000, 3], ['smoke', 5, null],
    ])
  })

  it('replace the run\'s: role names stand for its scripts, command lines for themselves, an empty list for none', async () => {
    const resolved = await resolve(project)
    expect(checksFor(taskSpec({ checks: [] }), resolved, CONFIG)).toEqual([])
    const checks = checksFor(taskSpec({ checks: ['test', { name: 'grep', command: 'grep -q x y', required: false }], expectTests: 1 }), resolved, CONFIG)
    expect(checks).toEqual([
      { ...resolved.checks[3], expectTests: 1 },
      {
        name: 'grep', role: 'extra', argv: ['sh', '-c', 'grep -q x y'], display: 'grep -q x y', scriptText: '', skipReason: null,
        timeoutMs: 600_000, required: false, parallel: false, expectTests: null,
      },
    ])
  })

  it('try a role that the task names although no script was there, so that its absence is not passed over (R-36)', async () => {
    const [check] = checksFor(taskSpec({ checks: ['build'] }), await resolve(project), CONFIG)
    expect([check?.argv, check?.required]).toEqual([['npm', 'run', 'build'], true])
  })
})

describe('pins', () => {
  it('take in scripts that appear later and keep the commands that were there', async () => {
    const project = tempProject({ 'package.json': manifest({ lint: 'eslint .' }) })
    const resolved = await resolveChecks(project.root, CONFIG)
    expect((await repinChecks(project.root, resolved, CONFIG)).appeared).toEqual([])
    project.write('package.json', manifest({ lint: 'true', test: 'node --test' }))
    const later = await repinChecks(project.root, resolved, CONFIG)
    expect([later.appeared, later.resolved.checks[0], later.resolved.checks[3]?.display]).toEqual([['test'], resolved.checks[0], 'npm run test'])
  })
})
