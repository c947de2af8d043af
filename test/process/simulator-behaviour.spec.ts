/** What the recordings can't show: counters over processes, escapes, dead loops, cut bytes. Real children of a real scenario. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Scenario, Step } from '../../src/simulator/scenario.ts'
import { eventually, isGone, startSimProcess, STREAM_ARGS } from '../support/sim-child.ts'
import { runSimInProcess } from '../support/sim-in-process.ts'
import { writeScenario } from '../support/sim-rig.ts'

const ID = '11111111-1111-4111-8111-111111111111'

let dir = ''
let escaped: number[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sim-behaviour-'))
  escaped = []
})
afterEach(() => {
  for (const pid of escaped) if (!isGone(pid)) process.kill(pid, 'SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

const start = (play: readonly Step[]): ReturnType<typeof startSimProcess> => startSimProcess({ dir, scenario: { rules: [{ play }] } })

async function result(scenario: Scenario, args: readonly string[], prompt: string): Promise<Readonly<Record<string, unknown>> | string> {
  const env = { HOME: dir, TMPDIR: dir, IS_SANDBOX: '1', PATH: process.env['PATH'] ?? '', ...writeScenario(dir, scenario) }
  const run = await runSimInProcess({ args: ['--print', '--yolo', '--output-format', 'json', ...args], env, cwd: dir, stdin: prompt })
  return run.code === 0 ? JSON.parse(run.stdout) as Record<string, unknown> : run.stderr
}

async function pidIn(file: string): Promise<number> {
  const path = join(dir, file)
  await eventually(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'), `${file} is written`)
  const pid = Number(readFileSync(path, 'utf8'))
  escaped.push(pid)
  return pid
}

test('a line longer than the pipe arrives whole before the program ends (F18)', async () => {
  const long = start([{ do: 'long-line', bytes: 20_000_000, kind: 'garbage' }, { do: 'text', text: 'after it' }])
  await long.closed
  expect(long.stdout().length).toBeGreaterThan(20_000_000)
  expect(long.records().filter(({ type }) => type === 'result').map(({ result: text }) => text)).toEqual(['after it'])
})

test('the first attempt hangs, and the launch that resumes its session succeeds', async () => {
  const scenario: Scenario = {
    rules: [
      { when: { launch: 'resume', history: 'half the work' }, play: [{ do: 'write', path: 'made.txt', content: 'x' }, { do: 'text', text: 'resumed' }] },
      { play: [{ do: 'text', text: 'half the work' }, { do: 'hang' }] },
    ],
  }
  const first = startSimProcess({ dir, scenario, args: [...STREAM_ARGS, '--session-id', ID] })
  await first.until(out => out.includes('half the work'))
  first.child.kill('SIGTERM')
  await first.exited
  const second = startSimProcess({ dir, scenario, args: [...STREAM_ARGS, '--resume', ID] })
  await second.closed
  expect(second.records().at(-1)).toMatchObject({ type: 'result', result: 'resumed', session_id: ID })
  expect(readFileSync(join(dir, 'made.txt'), 'utf8')).toBe('x')
})

test('a rule with `times` falls through when it is used up, counted for each value of its capture group', async () => {
  const scenario: Scenario = {
    rules: [
      { name: 'wrong first', times: 1, when: { promptMatches: 'task:(\\w+)' }, play: [{ do: 'text', text: 'wrong {{1}} {{use}}' }] },
      { name: 'then right', when: { prompt: 'task:' }, play: [{ do: 'text', text: 'right' }] },
    ],
    otherwise: [{ do: 'text', text: 'no task' }],
  }
  const texts: unknown[] = []
  for (const prompt of ['task:a', 'task:a', 'task:b', 'task:b', 'hello']) {
    const envelope = await result(scenario, [], prompt)
    texts.push(typeof envelope === 'string' ? envelope : envelope['result'])
  }
  expect(texts).toEqual(['wrong a 1', 'right', 'wrong b 1', 'right', 'no task'])
  const log = readFileSync(join(dir, 'sim-state', 'launches.ndjson'), 'utf8').trimEnd().split('\n').map(line => JSON.parse(line) as Record<string, unknown>)
  expect(log.map(launch => launch['rule'])).toEqual(['wrong first', 'then right', 'wrong first', 'then right', 'otherwise'])
})

test('a setup can refuse the resume of a session that exists, and claim that a new id is taken', async () => {
  await result({ rules: [] }, ['--session-id', ID], 'x')
  expect(await result({ rules: [{ setup: { resume: 'refuse' }, play: [] }] }, ['--resume', ID], 'x')).toBe(`No conversation found with session ID: ${ID}\n`)
  const other = '22222222-2222-4222-8222-222222222222'
  expect(await result({ rules: [{ setup: { sessionId: 'in-use' }, play: [] }] }, ['--session-id', other], 'x')).toBe(`Error: Session ID ${other} is already in use.\n`)
})

test('a refused resume is one result record in stream-json, and words on stderr in the other formats', async () => {
  const refused = startSimProcess({ dir, scenario: { rules: [] }, args: [...STREAM_ARGS, '--resume', ID] })
  await refused.closed
  expect(refused.records().map(record => [record['type'], record['subtype'], record['num_turns'], record['errors']]))
    .toEqual([['result', 'error_during_execution', 0, [`No conversation found with session ID: ${ID}`]]])
  expect(await result({ rules: [] }, ['--resume', ID], 'x')).toBe(`No conversation found with session ID: ${ID}\n`)
})

test('cost counts the process, or with `cost: session` everything the session spent', async () => {
  const cost = async (setup: Scenario['setup'], args: readonly string[]): Promise<unknown> => {
    const envelope = await result({ rules: [], setup: { usagePerReply: { inputTokens: 10, outputTokens: 1, costUsd: 2 }, ...setup } }, args, 'x')
    return typeof envelope === 'string' ? envelope : envelope['total_cost_usd']
  }
  expect([await cost({}, ['--session-id', ID]), await cost({}, ['--resume', ID]), await cost({ cost: 'session' }, ['--resume', ID])]).toEqual([2, 2, 4])
})

test('the model is that of --settings, else of the configuration file, else of --model, else of the environment; --provider with --model beats the file', async () => {
  const used = async (args: readonly string[]): Promise<unknown> => {
    const envelope = await result({ rules: [] }, args, 'x')
    return typeof envelope === 'string' ? envelope : Object.keys(envelope['modelUsage'] as object)[0]
  }
  const withoutFile = [await used([]), await used(['--model', 'flag'])]
  writeFileSync(join(dir, '.openclaude.json'), '{"env":{"OPENAI_MODEL":"file"}}')
  const withFile = [await used(['--model', 'flag']), await used(['--provider', 'openai', '--model', 'flag']), await used(['--settings', '{"env":{"OPENAI_MODEL":"set"}}'])]
  expect([...withoutFile, ...withFile]).toEqual(['sim-model', 'flag', 'file', 'flag', 'set'])
})

test('the example of the documentation plays as it says', async () => {
  const page = readFileSync(new URL('../../docs/simulator.md', import.meta.url), 'utf8')
  const example = JSON.parse(/```json\n([^]*?)```/u.exec(page)?.[1] ?? '') as Scenario
  const first = startSimProcess({ dir, scenario: example, args: [...STREAM_ARGS, '--session-id', ID], prompt: 'task:parser' })
  await first.until(out => out.includes('heartbeat'))
  first.child.kill('SIGTERM')
  await first.exited
  writeFileSync(join(dir, 'package.json'), '{}')
  const resumed = await result(example, ['--resume', ID], 'task:parser go on')
  expect(resumed).toMatchObject({ num_turns: 3, total_cost_usd: 0.03, result: expect.stringMatching(/^The parser works\.\n\n## Report\n/u) })
  expect(readFileSync(join(dir, 'src/parser.js'), 'utf8')).toBe('export const parse = () => 42\n')
  expect(await result(example, [], 'task:other')).toMatchObject({ result: 'Nothing to do for other.' })
  await result(example, [], 'task:other')
  expect(readFileSync(join(dir, 'other.txt'), 'utf8')).toBe('attempt for task:other')
})

test('a scenario with faults ends with 70 and names all of them', async () => {
  const run = startSimProcess({ dir, env: { OPENCLAUDE_SIM_SCENARIO: '{"rules":[{"play":[{"do":"dance"},{"do":"write","path":"x"}]}],"rule":1}' } })
  expect(await run.exited).toEqual({ code: 70, signal: null })
  await run.closed
  expect(run.stderr()).toMatch(/unknown key "rule"[^]*unknown step "dance"[^]*play\[1\] \(write\): needs content/u)
})

test('a stubborn child ignores SIGTERM and goes on beating; SIGKILL ends it', async () => {
  const run = start([{ do: 'ignore-signals', signals: ['SIGTERM'] }, { do: 'init' }, { do: 'hang' }])
  await run.until(out => out.includes('heartbeat'))
  run.child.kill('SIGTERM')
  const before = run.records().length
  await run.until(() => run.records().length > before + 2)
  run.child.kill('SIGKILL')
  expect(await run.exited).toEqual({ code: null, signal: 'SIGKILL' })
})

test.each(['dead', 'busy'] as const)('a %s loop sends no heartbeat and hears SIGTERM only when it ends', async loop => {
  const run = start([{ do: 'text', text: 'last words', more: true }, { do: 'hang', loop, ms: 1500 }, { do: 'text', text: 'awake' }])
  await run.until(out => out.includes('last words'))
  run.child.kill('SIGTERM')
  expect(await run.exited).toEqual({ code: 143, signal: null })
  await run.closed
  const kinds = run.records().map(record => record['subtype'] ?? record['type'])
  expect(kinds.filter(kind => kind !== 'heartbeat')).toEqual(['init', 'assistant'])
  expect(kinds.filter(kind => kind === 'heartbeat').length).toBeLessThan(3)
})

test.each(['child', 'setsid', 'double-fork', 'empty-env'] as const)('a process spawned as %s outlives the normal end of the program', async how => {
  const run = start([{ do: 'spawn', how, command: 'sleep 300', pidFile: join(dir, 'pid'), ignoreSigterm: true }, { do: 'wait-for-file', path: join(dir, 'pid') }, { do: 'text', text: 'done' }])
  expect(await run.exited).toEqual({ code: 0, signal: null })
  const pid = await pidIn('pid')
  expect(isGone(pid)).toBe(false)
  process.kill(pid, 'SIGTERM')
  expect(isGone(pid)).toBe(false)
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('OPENCLAUDE_SIM')).toBe(how !== 'empty-env')
})

test('an orphan that holds stdout keeps the pipe open after the exit', async () => {
  const run = start([{ do: 'spawn', how: 'setsid', command: 'sleep 300', holdStdout: true, pidFile: join(dir, 'pid') }, { do: 'text', text: 'done' }])
  await run.exited
  const pid = await pidIn('pid')
  const early = await Promise.race([run.closed.then(() => 'closed'), new Promise(resolve => setTimeout(resolve, 200, 'open'))])
  expect(early).toBe('open')
  process.kill(-pid, 'SIGKILL')
  await run.closed
})

test('SIGINT in a Bash call ends the whole tree below it, a setsid child too, and exits 0 with an empty success', async () => {
  const run = start([{ do: 'bash', command: `setsid bash -c 'echo $$ > pid; exec sleep 300' & wait` }])
  const pid = await pidIn('pid')
  await run.until(out => out.includes('tool_use'))
  run.child.kill('SIGINT')
  expect(await run.exited).toEqual({ code: 0, signal: null })
  await eventually(() => isGone(pid), 'the setsid child ends')
  await run.closed
  expect(run.records().at(-1)).toMatchObject({ subtype: 'success', is_error: false, result: '', stop_reason: 'tool_use' })
})

test('a child can die by a signal, and exit with any code after a result', async () => {
  const died = start([{ do: 'text', text: 'x' }, { do: 'die', signal: 'SIGSEGV' }])
  expect(await died.exited).toEqual({ code: null, signal: 'SIGSEGV' })
  const left = start([{ do: 'text', text: 'x' }, { do: 'result' }, { do: 'exit', code: 9 }])
  expect(await left.exited).toEqual({ code: 9, signal: null })
  await left.closed
  expect(left.records().at(-1)).toMatchObject({ type: 'result', result: 'x' })
})

test('a result can be followed by a process that never exits', async () => {
  const run = start([{ do: 'text', text: 'x' }, { do: 'result' }, { do: 'hang', at: 'exit' }])
  await run.until(out => out.includes('"shutting_down"'))
  run.child.kill('SIGKILL')
  await run.closed
  expect(run.records().filter(record => record['type'] === 'result')).toHaveLength(1)
})

test('garbage, over-long lines, floods and cut UTF-8 sequences reach the reader as they were written', async () => {
  const run = start([
    { do: 'raw', text: 'no record\n' },
    { do: 'long-line', bytes: 300_000 },
    { do: 'flood', bytes: 200_000, line: 'again' },
    { do: 'split-text', text: 'Grüße 世界 🙂', delayMs: 0 },
  ])
  expect(await run.exited).toEqual({ code: 0, signal: null })
  await run.closed
  const lines = run.stdout().split('\n')
  expect(lines.filter(line => line === 'again').length).toBeGreaterThan(30_000)
  expect(lines.filter(line => line.length > 300_000)).toHaveLength(1)
  expect(lines.filter(line => line === 'no record')).toHaveLength(1)
  expect(run.records().at(-1)).toMatchObject({ result: 'Grüße 世界 🙂' })
})
