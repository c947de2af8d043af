/** The socket by which a test decides each step of a simulated child. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually, isGone, startSimProcess, STREAM_ARGS } from '../support/sim-child.ts'
import { startSimRig } from '../support/sim-rig.ts'
import type { SimRig } from '../support/sim-rig.ts'

let dir = ''
let rig: SimRig
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sim-rig-'))
  rig = await startSimRig()
})
afterEach(async () => {
  await rig.close()
  rmSync(dir, { recursive: true, force: true })
})

const kinds = (records: readonly Readonly<Record<string, unknown>>[]): unknown[] => records.map(record => record['subtype'] ?? record['type']).filter(kind => kind !== 'heartbeat')

test('a test meets the child, decides its steps one by one and lets it finish', async () => {
  const run = startSimProcess({ dir, env: rig.env, prompt: 'task:a please' })
  const child = await rig.nextChild()
  expect(child.hello).toMatchObject({ pid: run.pid, argv: STREAM_ARGS, cwd: dir, prompt: 'task:a please', launch: 'fresh', env: { HOME: dir, IS_SANDBOX: '1' } })
  expect(run.stdout()).toBe('')
  await child.say('first', { more: true })
  await child.play({ do: 'write', path: 'made.txt', content: 'by {{prompt}}' })
  expect(readFileSync(join(dir, 'made.txt'), 'utf8')).toBe('by task:a please')
  await child.heartbeat({ state: 'requires_action' })
  await child.say('done')
  await child.finish()
  expect(await run.exited).toEqual({ code: 0, signal: null })
  await run.closed
  expect(kinds(run.records())).toEqual(['init', 'assistant', 'assistant', 'user', 'assistant', 'success'])
  expect(run.records().filter(record => record['state'] === 'requires_action')).toHaveLength(1)
  expect(run.records().at(-1)).toMatchObject({ result: 'done', num_turns: 2, session_id: child.hello.sessionId })
})

test('an idle child is a hanging model: it beats, and SIGTERM ends it with 143 and no result', async () => {
  const run = startSimProcess({ dir, env: rig.env })
  const child = await rig.nextChild()
  await child.play({ do: 'init' })
  await child.play({ do: 'hang' })
  await run.until(out => out.includes('"heartbeat_index":2'))
  run.child.kill('SIGTERM')
  expect(await run.exited).toEqual({ code: 143, signal: null })
  await child.gone
  expect(kinds(run.records())).toEqual(['init'])
})

test('a Bash call in progress outlives SIGKILL of the program, as with the real one', async () => {
  const run = startSimProcess({ dir, env: rig.env })
  const child = await rig.nextChild()
  const step = child.begin({ do: 'bash', command: 'sleep 300' })
  const pid = await step.started
  run.child.kill('SIGKILL')
  await run.exited
  await expect(step.done).rejects.toThrow('went away')
  expect(isGone(pid)).toBe(false)
  process.kill(pid, 'SIGKILL')
  await eventually(() => isGone(pid), 'the command ends')
})

test('a step that is none is refused by name, and the child goes on', async () => {
  const run = startSimProcess({ dir, env: rig.env })
  const child = await rig.nextChild()
  await expect(child.play(JSON.parse('{"do":"dance"}'))).rejects.toThrow('unknown step "dance"')
  await child.exit(7)
  expect(await run.exited).toEqual({ code: 7, signal: null })
})

test('closing the rig ends every child that is still connected', async () => {
  const run = startSimProcess({ dir, env: rig.env })
  await rig.nextChild()
  await rig.close()
  expect(await run.exited).toEqual({ code: 70, signal: null })
  rig = await startSimRig()
})
