import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { reportSchema } from '../../src/report/report-schema.ts'
import type { Scenario } from '../../src/simulator/scenario.ts'
import { cliRig, livePids, untilEntry } from '../support/cli-rig.ts'
import { expectSoundHistory } from '../support/history-checker.ts'
import { waitFor } from '../support/wait-for.ts'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

const DIAMOND = {
  tasks: [
    { id: 'a' }, { id: 'b', dependencies: ['a'] }, { id: 'c', dependencies: ['a'] }, { id: 'd', dependencies: ['b', 'c'] }, { id: 'e', dependencies: ['d'] },
  ],
}

describe('dsh-openclaude run', () => {
  test('does a diamond of five and says so in exactly one JSON document (R-54, R-92)', async () => {
    const rig = cliRig()
    const ended = await rig.run(['run', rig.writeGraph(DIAMOND), '--json'])
    expect({ code: ended.code, stderr: ended.stderr.includes('complete') }).toEqual({ code: 0, stderr: true })
    const report = reportSchema.parse(JSON.parse(ended.stdout))
    expect(report.run.result).toBe('complete')
    expect(report.tasks.map(task => [task.id, task.status, task.verdict])).toEqual(['a', 'b', 'c', 'd', 'e'].map(id => [id, 'accepted', 'verified']))
    expect(readdirSync(rig.project.root).filter(name => name.endsWith('.txt')).sort()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'])
    expect(await livePids(rig)).toEqual([])
    await expectSoundHistory(rig.journalPath())
  })

  test('names every fault of a graph and starts nothing (T24)', async () => {
    const rig = cliRig()
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a', dependancies: [] }, { id: 'b', dependencies: ['x'] }] }), '--json'])
    expect(ended.code).toBe(2)
    const { error } = JSON.parse(ended.stdout) as { error: { code: string, faults: { path: string }[] } }
    expect(error.code).toBe('OC_GRAPH_INVALID')
    expect(error.faults.map(fault => fault.path)).toEqual(['$.tasks[0].dependancies', '$.tasks[1].dependencies[0]'])
    expect(rig.runDirs()).toEqual([])
  })

  test('goes on to its end when the reader of its output goes away', async () => {
    const rig = cliRig()
    const started = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }, { id: 'b' }] })])
    await waitFor('a first line', () => started.stdout() !== '')
    started.child.stdout?.destroy()
    expect(await started.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(rig.report().run.result).toBe('complete')
  })

  test('says by its exit code that its output was lost on a full disk', () => {
    const rig = cliRig()
    const full = openSync('/dev/full', 'w')
    const ended = spawnSync(process.execPath, [CLI, 'plan', rig.writeGraph({ tasks: [{ id: 'a' }] }), '--workdir', rig.project.root, '--json'], {
      stdio: ['ignore', full, 'pipe'], env: { PATH: process.env['PATH'] ?? '', HOME: rig.home },
    })
    closeSync(full)
    expect(ended.status).toBe(3)
  })

  test('a missing graph file is not taken for a request (R-47)', async () => {
    const rig = cliRig()
    const ended = await rig.run(['run', join(rig.home, 'missing.json')])
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('does not exist')
    expect(rig.runDirs()).toEqual([])
  })

  test('a request is one task', async () => {
    const rig = cliRig()
    const ended = await rig.run(['run', 'write a file, please'])
    expect(ended.code).toBe(0)
    expect(existsSync(join(rig.project.root, 'request.txt'))).toBe(true)
  })

  test('an executable that is missing is one clear error before anything starts (R-13)', async () => {
    const rig = cliRig()
    rmSync(join(rig.home, 'openclaude'))
    const ended = await rig.run(['run', rig.writeGraph(DIAMOND)])
    expect(ended.code).toBe(3)
    expect(ended.stderr).toContain('OC_CHILD_NOT_FOUND')
    expect(rig.runDirs()).toEqual([])
  })

  test('a run that the breaker halted goes on by retry once the program is back: nothing accepted is done again (T14)', async () => {
    const rig = cliRig()
    const program = join(rig.home, 'openclaude')
    const parked = `${program}.parked`
    const first = { id: 'first', assignee: 'command', command: `echo x >> first.txt; mv ${program} ${parked}` }
    const graph = rig.writeGraph({ tasks: [first, { id: 'a', dependencies: ['first'] }, { id: 'b', dependencies: ['a'] }] })
    const halted = await rig.run(['run', graph])
    expect(halted.code).toBe(1)
    expect(rig.report().run.result).toBe('halted')
    expect(halted.stdout).toContain(`it goes on with: dsh-openclaude retry ${rig.report().run.id} a\n`)
    renameSync(parked, program)
    const retried = await rig.run(['retry', rig.report().run.id, 'a'])
    expect({ code: retried.code, stderr: retried.stderr }).toEqual({ code: 0, stderr: '' })
    expect(rig.report().tasks.map(task => task.status)).toEqual(['accepted', 'accepted', 'accepted'])
    expect(readFileSync(rig.project.path('first.txt'), 'utf8')).toBe('x\n')
    await expectSoundHistory(rig.journalPath())
  })

  test('work that its own tests refuse is done again with the failing output, and then accepted', async () => {
    const scenario: Scenario = {
      rules: [
        { name: 'wrong', times: 1, play: [{ do: 'write', path: 'broken', content: 'x' }, { do: 'text', text: 'All done, tests pass.' }] },
        { name: 'right', when: { prompt: 'broken is there' }, play: [{ do: 'bash', command: 'echo removing' }, { do: 'delete', path: 'broken' }, { do: 'write', path: 'good.txt', content: 'x' }, { do: 'text', text: 'Now.' }] },
      ],
    }
    const rig = cliRig({ scenario })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    expect(ended.code).toBe(0)
    const [task] = rig.report().tasks
    expect(task?.attempts.map(attempt => [attempt.outcome, attempt.verdict?.kind, attempt.decisions.map(decision => decision.kind)])).toEqual([
      ['succeeded', 'rejected', ['retry']], ['succeeded', 'verified', ['accept']],
    ])
    expect(readFileSync(join(rig.report().run.directory, 't0-a', 'a1', 'diff.patch'), 'utf8')).toContain('broken')
  })

  test('a stalled child is ended and resumed in the same attempt (R-67, R-78)', async () => {
    const scenario: Scenario = {
      rules: [
        { when: { launch: 'fresh' }, play: [{ do: 'write', path: 'half.txt', content: 'x' }, { do: 'hang' }] },
        { when: { launch: 'resume' }, play: [{ do: 'write', path: 'whole.txt', content: 'x' }, { do: 'text', text: 'Done.' }] },
      ],
    }
    const rig = cliRig({ scenario, config: { idleTimeoutMs: 6000, heartbeat: '' } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    expect(ended.code).toBe(0)
    const attempts = rig.report().tasks[0]?.attempts
    expect(attempts?.length).toBe(1)
    expect(attempts?.[0]?.launches.map(launch => [launch.mode, launch.reason, launch.endedBy])).toEqual([['fresh', 'first', 'clock idle'], ['resume', 'stalled', null]])
    expect(new Set(attempts?.[0]?.launches.map(launch => launch.sessionId)).size).toBe(1)
    expect(await livePids(rig)).toEqual([])
  })

  test('SIGTERM stops gracefully with 143 and leaves no child; resume finishes the same attempt', async () => {
    const scenario: Scenario = {
      rules: [
        { when: { launch: 'fresh' }, times: 1, play: [{ do: 'bash', command: 'while [ ! -e go ]; do sleep 0.1; done' }, { do: 'text', text: 'never said' }] },
        { play: [{ do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'Done.' }] },
      ],
    }
    const rig = cliRig({ scenario })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    await untilEntry(rig, 'the first record', entry => entry.kind === 'launch-first-record')
    first.child.kill('SIGTERM')
    expect((await first.ended).code).toBe(143)
    expect(await livePids(rig)).toEqual([])
    const second = await rig.run(['resume'])
    expect(second.code).toBe(0)
    expect(rig.report().tasks[0]?.attempts.length).toBe(1)
    expect(rig.report().run.engines).toBe(2)
    await expectSoundHistory(rig.journalPath())
  })

  test('kill -9 of the engine: the child lives on, is adopted, and its work is accepted without a second launch (F28)', async () => {
    const scenario: Scenario = { rules: [{ play: [{ do: 'wait-for-file', path: 'go' }, { do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'Done.' }] }] }
    const rig = cliRig({ scenario })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    await untilEntry(rig, 'a live launch', entry => entry.kind === 'launch-live')
    first.child.kill('SIGKILL')
    await first.ended
    expect((await livePids(rig)).length).toBeGreaterThan(0)
    const second = rig.start(['resume', '--json'])
    await untilEntry(rig, 'the adoption', entry => entry.kind === 'launch-adopted')
    rig.project.write('go', '')
    const ended = await second.ended
    expect(ended.code).toBe(0)
    const attempt = rig.report().tasks[0]?.attempts[0]
    expect([attempt?.launches.length, attempt?.launches[0]?.adopted, attempt?.launches[0]?.exitCode]).toEqual([1, 1, 0])
    await expectSoundHistory(rig.journalPath())
  })

  test('a second engine is refused with the owner, and status reads beside it (F8)', async () => {
    const scenario: Scenario = { rules: [{ play: [{ do: 'wait-for-file', path: 'go' }, { do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'Done.' }] }] }
    const rig = cliRig({ scenario })
    const graph = rig.writeGraph({ tasks: [{ id: 'a' }] })
    const first = rig.start(['run', graph])
    await untilEntry(rig, 'a live launch', entry => entry.kind === 'launch-live')
    const second = await rig.run(['run', graph])
    expect(second.code).toBe(3)
    expect(second.stderr).toContain(`pid ${first.pid}`)
    const status = await rig.run(['status'])
    expect([status.code, status.stdout.includes(`running under pid ${first.pid}`)]).toEqual([0, true])
    rig.project.write('go', '')
    expect((await first.ended).code).toBe(0)
  })

  test('abort from another process ends the children and the run (R-49)', async () => {
    const scenario: Scenario = { rules: [{ play: [{ do: 'hang' }] }] }
    const rig = cliRig({ scenario })
    const first = rig.start(['run', rig.writeGraph(DIAMOND)])
    await untilEntry(rig, 'a live launch', entry => entry.kind === 'launch-live')
    const abort = await rig.run(['abort'])
    expect([abort.code, abort.stdout.includes(`pid ${first.pid}`)]).toEqual([0, true])
    expect((await first.ended).code).toBe(130)
    expect(rig.report().tasks.map(task => task.status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled'])
    expect(await livePids(rig)).toEqual([])
    const again = await rig.run(['abort'])
    expect([again.code, again.stdout.includes('nothing to abort')]).toEqual([0, true])
  })

  test('run while another run is interrupted names resume and --new', async () => {
    const scenario: Scenario = { rules: [{ when: { prompt: 'Task: a' }, play: [{ do: 'hang' }] }, { play: [{ do: 'write', path: 'b.txt', content: 'x' }, { do: 'text', text: 'Done.' }] }] }
    const rig = cliRig({ scenario })
    const first = rig.start(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    await untilEntry(rig, 'a live launch', entry => entry.kind === 'launch-live')
    first.child.kill('SIGKILL')
    await first.ended
    const other = rig.writeGraph({ tasks: [{ id: 'b' }] })
    const refused = await rig.run(['run', other])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('resume')
    const anew = await rig.run(['run', other, '--new'])
    expect(anew.code).toBe(0)
    expect(rig.runDirs().length).toBe(2)
    await waitFor('no child of the aborted run', async () => (await livePids(rig)).length === 0)
  })

  test('a task that needs a person: resolve retries it, the verdict stays, and what it blocked runs (T13)', async () => {
    const scenario: Scenario = {
      rules: [
        { name: 'bad', when: { prompt: 'Task: a' }, times: 1, play: [{ do: 'write', path: 'broken', content: 'x' }, { do: 'text', text: 'Done.' }] },
        { when: { prompt: 'Task: a' }, play: [{ do: 'delete', path: 'broken' }, { do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'Done.' }] },
        { play: [{ do: 'write', path: 'b.txt', content: 'x' }, { do: 'text', text: 'Done.' }] },
      ],
    }
    const rig = cliRig({ scenario })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a', maxAttempts: 1 }, { id: 'b', dependencies: ['a'] }] })])
    expect(ended.code).toBe(1)
    expect(rig.report().tasks.map(task => [task.status, task.rootCauses])).toEqual([['escalated', []], ['blocked', ['a']]])
    const accepted = await rig.run(['resolve', rig.report().run.id, 'a', 'accept', '--note', 'trust me'])
    expect(rig.report().tasks[0]?.status).toBe('escalated')
    expect(accepted.code).toBe(1)
    const retried = await rig.run(['resolve', rig.report().run.id, 'a', 'retry', '--note', 'once more'])
    expect(retried.code).toBe(0)
    expect(rig.report().tasks.map(task => task.status)).toEqual(['accepted', 'accepted'])
    expect(rig.report().tasks[0]?.attempts[0]?.verdict?.kind).toBe('rejected')
  })

  test('secrets of the environment appear in no journal, report or output (T22)', async () => {
    const scenario: Scenario = {
      rules: [{ play: [{ do: 'raw', text: 'token is {{env.TAVILY_TOKEN}}\n', to: 'stderr' }, { do: 'write', path: 'a.txt', content: 'x' }, { do: 'text', text: 'I used {{env.TAVILY_TOKEN}}.' }] }],
    }
    const rig = cliRig({ scenario })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })], { TAVILY_TOKEN: 'tvly-0123456789abcdef' })
    expect(ended.code).toBe(0)
    const shown = ['journal.ndjson', 'report.json', 'report.md', 'run.json'].map(name => readFileSync(join(rig.report().run.directory, name), 'utf8')).join('\n')
    expect(shown + ended.stdout + ended.stderr).not.toContain('tvly-0123456789abcdef')
    expect(shown).toContain('TAVILY_TOKEN')
  })

  test('a graph mixes agents and command lines', async () => {
    const rig = cliRig()
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }, { id: 'copy', assignee: 'command', command: 'cp a.txt copied.txt', dependencies: ['a'] }] })])
    expect(ended.code).toBe(0)
    expect(readFileSync(rig.project.path('copied.txt'), 'utf8')).toBe('a\n')
  })

  test('plan prints waves, the critical path and the commands, and starts nothing', async () => {
    const rig = cliRig()
    const ended = await rig.run(['plan', rig.writeGraph(DIAMOND)])
    expect(ended.code).toBe(0)
    expect(ended.stdout).toContain('wave 2: b, c')
    expect(ended.stdout).toContain('critical path (4): a -> b -> d -> e')
    expect(ended.stdout).toContain('check test: npm')
    expect(existsSync(rig.stateDir)).toBe(false)
  })

  test('without persistence nothing is left behind, and the run says so (R-31)', async () => {
    const rig = cliRig({ config: { persistence: false } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] }), '--json'])
    expect(ended.code).toBe(0)
    expect((JSON.parse(ended.stdout) as { run: { result: string } }).run.result).toBe('complete')
    expect(ended.stderr).toContain('persistence')
    expect(existsSync(rig.stateDir)).toBe(false)
  })
})


describe('a program that can not work', () => {
  test('that exits at once for every task halts the run after three equal failures, named with PATH (T14)', async () => {
    const rig = cliRig({ scenario: { rules: [{ play: [{ do: 'raw', text: 'config is broken\n', to: 'stderr' }, { do: 'exit', code: 1 }] }] } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: ['a', 'b', 'c', 'd', 'e'].map(id => ({ id })) })])
    expect(ended.code).toBe(1)
    const { run, tasks } = rig.report()
    expect([run.result, run.resultMessage?.includes(join(rig.home, 'openclaude')), run.resultMessage?.includes('config is broken'), run.resultMessage?.includes('PATH')])
      .toEqual(['halted', true, true, true])
    expect(tasks.flatMap(task => task.attempts).length).toBe(3)
    expect(tasks.filter(task => task.status === 'accepted')).toEqual([])
  })

  test('that is asked for something it does not know keeps its exit code in the report (R-70)', async () => {
    const rig = cliRig({ scenario: { rules: [{ play: [{ do: 'exit', code: 7 }] }] } })
    await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    expect(rig.report().tasks[0]?.attempts[0]?.launches.map(launch => launch.exitCode)).toEqual([7])
  })
})
