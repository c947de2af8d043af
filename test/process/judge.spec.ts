import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Evidence, Verdict } from '../../src/core/evidence-types.ts'
import type { TaskSpec } from '../../src/core/graph-types.ts'
import { runPlain } from '../../src/executor/plain/child.ts'
import { createJudge, type PinnedJudge } from '../../src/supervision/acceptance.ts'
import { resolveChecks, type CheckConfig } from '../../src/supervision/checks.ts'
import { createSharedWorkspace } from '../../src/workspace/shared.ts'
import type { TreeSnapshot, Workspace } from '../../src/workspace/workspace.ts'
import { attemptOutcome, taskSpec } from '../support/graph-values.ts'
import { isAlive } from '../support/processes.ts'
import { tempProject, type TempProject } from '../support/temp-project.ts'

const CONFIG: CheckConfig = { lint: 'lint', typecheck: 'typecheck', build: 'build', test: 'test', additionalCommands: [], acceptanceTimeoutMs: 60_000, packageManager: '' }

/** Every script leaves a line in `ran.log`, which the repository ignores: what ran is read from the world. */
const script = (name: string, more = ''): string => `echo ${name} >> ran.log${more === '' ? '' : ` && ${more}`}`

interface Judged {
  readonly verdict: Verdict
  readonly evidence: readonly Evidence[]
}

interface Rig {
  readonly project: TempProject
  readonly judge: PinnedJudge
  readonly run: (task?: Partial<TaskSpec>, signal?: AbortSignal, attempt?: number) => Promise<Judged>
  readonly ran: () => readonly string[]
  readonly runDir: string
  readonly evidenceDir: string
}

async function rig(scripts: Readonly<Record<string, string>>, options: { readonly config?: Partial<CheckConfig>, readonly redact?: (text: string) => string, readonly remember?: boolean } = {}): Promise<Rig> {
  const project = tempProject({ '.gitignore': 'ran.log\ndist/\n', 'package.json': JSON.stringify({ name: 'app', scripts }) })
  project.git('init', '-q')
  const state = tempProject().root
  const config = { ...CONFIG, ...options.config, workdir: project.root }
  const provider = await createSharedWorkspace(project.root)
  const workspace: Workspace = await provider.prepare('t', 1, { freshTree: false })
  const before: TreeSnapshot = await provider.snapshot(workspace)
  const runDir = join(state, 'run')
  const evidenceDir = join(state, 'evidence')
  const judge = createJudge({
    runPlain, config,
    evidenceDir: options.remember === false ? null : evidenceDir,
    redact: options.redact ?? (text => text),
    env: { PATH: process.env['PATH'] ?? '', HOME: state },
    killGraceMs: 500,
    markerName: 'OC_TEST_MARKER',
    checks: await resolveChecks(project.root, config),
  })
  let attempts = 0
  return {
    project, judge, runDir, evidenceDir,
    run: async (task = {}, signal = new AbortController().signal, attempt = attempts + 1) => {
      attempts = attempt
      const published: Evidence[] = []
      const verdict = await judge.judge({
        task: taskSpec(task), attempt: attempts, workspace, taskBefore: before.fingerprint, fingerprint: async () => (await provider.snapshot(workspace)).fingerprint, before, after: await provider.snapshot(workspace), outcome: attemptOutcome(), agent: false,
        logDir: join(runDir, `a${attempts}`, 'checks'), runDir, signal,
        onEvidence: async evidence => { published.push(evidence) },
      })
      return { verdict, evidence: published }
    },
    ran: () => existsSync(project.path('ran.log')) ? readFileSync(project.path('ran.log'), 'utf8').split('\n').filter(line => line !== '') : [],
  }
}

const grades = ({ evidence }: Judged): readonly string[] => evidence.map(each => `${each.check} ${each.grade}${each.cached ? ' cached' : ''}`)

describe('the judge', () => {
  it('runs the scripts of a real project in order and calls it verified on their proof (R-36, R-93)', async () => {
    const { run, ran, runDir } = await rig({ test: script('test', 'echo 3 passed'), pretest: script('pretest'), build: script('build'), lint: script('lint') })
    const judged = await run()
    expect(ran()).toEqual(['lint', 'build', 'pretest', 'test'])
    expect(grades(judged)).toEqual(['lint passed', 'typecheck skipped', 'build passed', 'test passed'])
    expect(judged.verdict).toMatchObject({ kind: 'verified', judgeError: false, findings: [], evidence: judged.evidence.map(each => each.key) })
    const test = judged.evidence[3]
    expect(test).toMatchObject({
      check: 'test', role: 'test', required: true, command: 'npm run test', reason: 'exit 0, 3 tests ran', exitCode: 0, signal: null, tests: 3, logPath: 'a1/checks/4-test.log',
    })
    const log = join(runDir, 'a1/checks/4-test.log')
    expect(readFileSync(log, 'utf8')).toContain('3 passed')
    expect(statSync(log).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(log)).mode & 0o777).toBe(0o700)
  })

  it('rejects on one red required check, runs the others all the same and keeps the tail of its output (R-39)', async () => {
    const { run, ran } = await rig({ test: script('test', 'echo "expected 1, got 2" && exit 3'), lint: script('lint') }, {
      config: { additionalCommands: [{ name: 'smoke', command: script('smoke') }] },
    })
    const judged = await run()
    expect(ran()).toEqual(['lint', 'test', 'smoke'])
    expect(judged.verdict).toMatchObject({ kind: 'rejected', reason: 'Required checks are red: test (failed).' })
    expect(judged.evidence[3]).toMatchObject({ grade: 'failed', reason: 'exit 3', exitCode: 3, tail: expect.stringContaining('expected 1, got 2') })
  })

  it('makes a red check that is not required a finding only', async () => {
    const { run } = await rig({ test: script('test') }, { config: { additionalCommands: [{ name: 'style', command: 'exit 1', required: false }] } })
    const { verdict } = await run()
    expect([verdict.kind, verdict.findings]).toEqual(['verified', [
      { kind: 'optional-check-red', message: 'Optional checks did not pass: style (failed)', files: [] },
    ]])
  })

  it('calls work without any script unverified, never passed (R-35, R-93)', async () => {
    expect((await (await rig({})).run()).verdict.kind).toBe('unverified')
  })

  it('calls work unverified whose test script runs no test (T9)', async () => {
    const judged = await (await rig({ test: script('test', 'echo "0 passed"') })).run()
    expect([judged.verdict.kind, judged.evidence[3]?.grade]).toEqual(['unverified', 'vacuous'])
  })

  it('reports a command that does not exist as an error of the judge', async () => {
    const judged = await (await rig({ test: 'no-such-runner --all' })).run()
    expect([judged.verdict.kind, judged.verdict.judgeError, judged.evidence[3]?.grade]).toEqual(['unverified', true, 'unrunnable'])
  })

  it('reports a script that a task names and nobody wrote as an error of the judge (R-36)', async () => {
    const judged = await (await rig({ test: script('test') })).run({ checks: ['test', 'build'] })
    expect([grades(judged), judged.verdict.judgeError]).toEqual([['test passed', 'build unrunnable'], true])
  })

  it('ends a check that runs too long, with everything it started (R-37)', async () => {
    const { run, project } = await rig({ test: 'node wait.js' }, { config: { acceptanceTimeoutMs: 3000 } })
    project.write('wait.js', `
      const { spawn } = require('node:child_process')
      const child = spawn('sleep', ['600'], { stdio: 'inherit', detached: true })
      require('node:fs').writeFileSync('pid.txt', String(child.pid))
      setInterval(() => {}, 1000)
    `)
    const judged = await run()
    expect([judged.verdict.kind, judged.evidence[3]?.grade]).toEqual(['rejected', 'timed-out'])
    expect(isAlive(Number(readFileSync(project.path('pid.txt'), 'utf8')))).toBe(false)
  })

  it('stops with the reason of its signal and publishes nothing for the check that was cut off', async () => {
    const { run, project } = await rig({ lint: script('lint'), test: script('test', 'sleep 600') })
    const controller = new AbortController()
    const judged = run({}, controller.signal)
    const settled = judged.then(() => 'judged', (error: unknown) => error)
    await expect.poll(() => existsSync(project.path('ran.log')) && readFileSync(project.path('ran.log'), 'utf8').includes('test'), { timeout: 30_000 }).toBe(true)
    const reason = new Error('stop')
    controller.abort(reason)
    expect(await settled).toBe(reason)
  })

  it('replaces secrets in log and evidence (T22)', async () => {
    const { run, runDir } = await rig({ test: 'printf "token=tvly-123\\n"' }, { redact: text => text.replaceAll('tvly-123', '[TOKEN]') })
    const { evidence } = await run()
    expect(`${evidence[3]?.tail}${readFileSync(join(runDir, 'a1/checks/4-test.log'), 'utf8')}`).not.toContain('tvly-123')
    expect(evidence[3]?.tail).toContain('token=[TOKEN]')
  })

  it('runs checks marked parallel together and all others alone', async () => {
    // Each of the two waits for the other: run one by one they would never end.
    const meet = (own: string, other: string): string => `mkdir -p dist; touch ${own}; while [ ! -e ${other} ]; do sleep 0.05; done`
    const { run } = await rig({}, {
      config: {
        additionalCommands: [
          { name: 'alone', command: 'test ! -e dist/a.tmp && test ! -e dist/b.tmp' },
          { name: 'a', command: meet('dist/a.tmp', 'dist/b.tmp'), parallel: true, timeoutMs: 30_000 },
          { name: 'b', command: meet('dist/b.tmp', 'dist/a.tmp'), parallel: true, timeoutMs: 30_000 },
          { name: 'after', command: 'test -e dist/a.tmp && test -e dist/b.tmp' },
        ],
      },
    })
    expect(grades(await run()).slice(4)).toEqual(['alone passed', 'a passed', 'b passed', 'after passed'])
  })
})

describe('evidence', () => {
  it('is earned once per tree, kept by its key, and private', async () => {
    const { run, ran, project, evidenceDir } = await rig({ test: script('test'), lint: script('lint') })
    const first = await run()
    const again = await run()
    expect(grades(again)).toEqual(['lint passed cached', 'typecheck skipped', 'build skipped', 'test passed cached'])
    expect(ran()).toEqual(['lint', 'test'])
    expect(again.verdict.evidence).toEqual(first.verdict.evidence)
    expect(statSync(join(evidenceDir, `${first.evidence[3]?.key}.json`)).mode & 0o777).toBe(0o600)
    project.write('new.ts', 'x')
    expect(grades(await run())).toEqual(['lint passed', 'typecheck skipped', 'build skipped', 'test passed'])
    expect(ran()).toEqual(['lint', 'test', 'lint', 'test'])
  })

  it('is earned again when the stored file is damaged', async () => {
    const { run, ran, evidenceDir } = await rig({ test: script('test') })
    const { evidence } = await run()
    writeFileSync(join(evidenceDir, `${evidence[3]?.key}.json`), '{"grade":"passed"}')
    await run()
    expect(ran()).toEqual(['test', 'test'])
  })

  it('of a build is earned again before a check that has to run, since its output is no part of the tree', async () => {
    const { run, ran, project } = await rig({ build: script('build', 'mkdir -p dist && touch dist/out'), test: script('test', 'test -e dist/out') })
    await run({ checks: ['build'] })
    project.git('clean', '-qfdX', 'dist')
    const judged = await run()
    expect(grades(judged)).toEqual(['lint skipped', 'typecheck skipped', 'build passed', 'test passed'])
    expect(grades(await run())).toEqual(['lint skipped', 'typecheck skipped', 'build passed cached', 'test passed cached'])
    expect(ran()).toEqual(['build', 'build', 'test'])
  })

  it('earned while a check wrote into the tree is earned again on the tree it left', async () => {
    const { run } = await rig({ build: 'echo made > made.js', test: script('test') })
    const { verdict, evidence } = await run()
    expect(evidence.map(each => `${each.check} ${each.grade}`)).toEqual([
      'lint skipped', 'typecheck skipped', 'build passed', 'test passed', 'lint skipped', 'typecheck skipped', 'build passed', 'test passed',
    ])
    expect([verdict.kind, verdict.findings.map(finding => finding.kind)]).toEqual(['verified', ['tree-moved']])
  })

  it('of a check that spoils what an earlier one proved is not the last word', async () => {
    const { run } = await rig({ test: 'test ! -e broken' }, { config: { additionalCommands: [{ name: 'spoil', command: 'touch broken' }] } })
    expect((await run()).verdict.kind).toBe('rejected')
  })

  it('of a tree that moves whenever it is judged proves nothing', async () => {
    const { run } = await rig({ test: script('test') }, { config: { additionalCommands: [{ name: 'stamp', command: 'date +%s%N >> stamp' }] } })
    const { verdict } = await run()
    expect([verdict.kind, verdict.reason.includes('stamp')]).toEqual(['unverified', true])
  })

  it('in a tree that no key can tell serves only the second try after an error of the judge', async () => {
    const { run, ran, project } = await rig({ test: script('test') }, { remember: false, config: { additionalCommands: [{ name: 'tool', command: './dist/tool' }] } })
    const first = await run()
    expect([first.verdict.judgeError, grades(first).slice(3)]).toEqual([true, ['test passed', 'tool unrunnable']])
    project.write('dist/tool', '#!/bin/sh\nexit 0\n')
    chmodSync(project.path('dist/tool'), 0o755)
    expect(grades(await run({}, undefined, 1)).slice(3)).toEqual(['test passed cached', 'tool passed'])
    expect(grades(await run()).slice(3)).toEqual(['test passed', 'tool passed'])
    expect(ran()).toEqual(['test', 'test'])
  })

  it('of a timeout is never kept', async () => {
    const { run, ran } = await rig({}, { config: { additionalCommands: [{ name: 'slow', command: script('slow', 'sleep 600'), timeoutMs: 1500 }] } })
    await run()
    await run()
    expect(ran()).toEqual(['slow', 'slow'])
  })
})

describe('pinned commands', () => {
  it('judge an attempt that rewrote its own test script, and say so (T11)', async () => {
    const { run, ran, project } = await rig({ test: script('pinned', 'exit 1') })
    project.write('package.json', JSON.stringify({ name: 'app', scripts: { test: 'true' } }))
    const { verdict, evidence } = await run()
    expect([verdict.kind, evidence[3]?.grade, evidence[3]?.reason]).toEqual([
      'rejected', 'failed', 'exit 1; package.json or the settings of the package manager changed, the pinned script was run',
    ])
    expect(ran()).toEqual(['pinned'])
  })

  it('still find the project\'s own programs when the script was removed (T11)', async () => {
    const { run, project } = await rig({ test: 'own-runner' })
    project.write('node_modules/.bin/own-runner', '#!/bin/sh\necho 2 passed\n')
    chmodSync(project.path('node_modules/.bin/own-runner'), 0o755)
    project.write('package.json', JSON.stringify({ name: 'app' }))
    expect((await run()).evidence[3]).toMatchObject({ grade: 'passed', tests: 2 })
  })

  it('take in a script that landed work added, from then on', async () => {
    const { run, project, judge } = await rig({})
    project.write('package.json', JSON.stringify({ name: 'app', scripts: { test: 'printf "1 passed\\n"' } }))
    expect((await run()).verdict.kind).toBe('unverified')
    expect(await judge.repin()).toEqual(['test'])
    expect((await run()).verdict.kind).toBe('verified')
  })
})
