import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sendControl, watchControl } from '../../../src/engine/runs/control-spool.ts'
import type { ControlMessage, ControlWatch } from '../../../src/engine/runs/control-spool.ts'
import type { ControlCommand } from '../../../src/core/run-types.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { waitFor } from '../../support/wait-for.ts'

interface Engine {
  readonly got: ControlMessage[]
  readonly warnings: string[]
  readonly errors: unknown[]
  readonly watch: ControlWatch
}

function engine(folder: string, options: { readonly seen?: readonly string[], readonly handler?: (message: ControlMessage) => Promise<void>, readonly pollMs?: number } = {}): Engine {
  const got: ControlMessage[] = []
  const warnings: string[] = []
  const errors: unknown[] = []
  const handler = options.handler ?? (() => Promise.resolve())
  const watch = watchControl(folder, (message) => {
    got.push(message)
    return handler(message)
  }, {
    seen: new Set(options.seen), onWarning: message => warnings.push(message), onError: error => errors.push(error), pollMs: options.pollMs ?? 20,
  })
  onTestFinished(() => watch.close())
  return { got, warnings, errors, watch }
}

const send = (folder: string, command: ControlCommand): Promise<string> => sendControl(folder, { run: 'r', by: 'someone', command })
const retry = (task: string): ControlCommand => ({ kind: 'retry', task, guidance: '' })
const isEmpty = (folder: string) => (): boolean => readdirSync(folder).length === 0

test('commands arrive in the order they were sent, once each, and leave nothing behind', async () => {
  const folder = temporaryFolder()
  const ids: string[] = []
  for (const task of ['a', 'b', 'c', 'd']) ids.push(await send(folder, retry(task)))
  expect(readdirSync(folder).map(name => (statSync(join(folder, name)).mode & 0o777).toString(8))).toEqual(['600', '600', '600', '600'])
  const { got, warnings } = engine(folder)
  await waitFor('the spool is empty', isEmpty(folder))
  ids.push(await send(folder, { kind: 'answer', task: 'a', answer: 'drop', note: 'no' }))
  await waitFor('the late command arrived', () => got.length === 5)
  expect(got.map(({ id, run, by, command }) => [id, run, by, command])).toEqual([
    ...['a', 'b', 'c', 'd'].map((task, index) => [ids[index], 'r', 'someone', retry(task)]),
    [ids[4], 'r', 'someone', { kind: 'answer', task: 'a', answer: 'drop', note: 'no' }],
  ])
  expect(warnings).toEqual([])
})

test('a command that was journalled before a crash, and not deleted, is deleted without acting again', async () => {
  const folder = temporaryFolder()
  const first = await send(folder, { kind: 'abort' })
  const second = await send(folder, { kind: 'stop' })
  const { got } = engine(folder, { seen: [first] })
  await waitFor('the spool is empty', isEmpty(folder))
  expect(got.map(message => message.id)).toEqual([second])
})

test('a command whose handling failed stays for the next engine, and the watch ends', async () => {
  const folder = temporaryFolder()
  await send(folder, { kind: 'abort' })
  await send(folder, { kind: 'stop' })
  const failing = engine(folder, { handler: () => Promise.reject(new Error('poisoned')) })
  await waitFor('the failure is reported', () => failing.errors.length > 0)
  await failing.watch.close()
  expect([failing.got.length, readdirSync(folder).length]).toEqual([1, 2])
  const next = engine(folder)
  await waitFor('the spool is empty', isEmpty(folder))
  expect(next.got.map(message => message.command.kind)).toEqual(['abort', 'stop'])
})

test('a file that is no command is set aside with a warning that says why, and the next command still arrives', async () => {
  const folder = temporaryFolder()
  const name = (digit: number): string => `0000000000000000000000000${digit}.json`
  const message = { id: name(3).slice(0, -5), run: 'r', by: 'b', at: '', command: { kind: 'abort' } }
  writeFileSync(join(folder, name(1)), '{"id":')
  writeFileSync(join(folder, name(2)), JSON.stringify({ ...message, id: name(2).slice(0, -5), command: { kind: 'explode' } }))
  writeFileSync(join(folder, name(3)), JSON.stringify({ ...message, extra: 1 }))
  writeFileSync(join(folder, name(4)), JSON.stringify(message))
  symlinkSync('/etc/hostname', join(folder, name(5)))
  execFileSync('mkfifo', [join(folder, name(6))])
  writeFileSync(join(folder, name(7)), ' '.repeat(1_100_000))
  writeFileSync(join(folder, 'notes.txt'), 'not for the engine')
  const { got, warnings } = engine(folder)
  const id = await send(folder, { kind: 'stop' })
  await waitFor('the good command arrived', () => got.length === 1)
  expect(got[0]?.id).toBe(id)
  expect(warnings.map(warning => warning.replace(/^.*rejected: /, ''))).toEqual([
    'it is not JSON.', expect.stringMatching(/^command.kind: /), expect.stringContaining('"extra"'), 'its id is not its file name.',
    'it is a symbolic link.', 'it is no plain file.', 'it is larger than 1048576 bytes.',
  ])
  await waitFor('the good command is gone', () => readdirSync(folder).length === 8)
  expect(readdirSync(folder).sort()).toEqual([...[1, 2, 3, 4, 5, 6, 7].map(digit => `${name(digit)}.rejected`), 'notes.txt'])
})

test('close waits for the handler that runs, and starts no other', async () => {
  const folder = temporaryFolder()
  await send(folder, { kind: 'stop' })
  await send(folder, { kind: 'abort' })
  const gate = Promise.withResolvers<void>()
  const { got, watch } = engine(folder, { handler: () => gate.promise })
  await waitFor('the first handler runs', () => got.length === 1)
  let closed = false
  const closing = watch.close().then(() => (closed = true))
  await new Promise(resolve => setImmediate(resolve))
  expect(closed).toBe(false)
  gate.resolve()
  await closing
  expect([got.length, readdirSync(folder).length]).toEqual([1, 1])
})

test('where notification works a command is taken before the next poll', async () => {
  const folder = temporaryFolder()
  const { got } = engine(folder, { pollMs: 600_000 })
  await waitFor('the command arrived', async () => {
    await send(folder, { kind: 'stop' })
    return got.length > 0
  })
})
