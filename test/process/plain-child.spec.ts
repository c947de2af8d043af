import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { runPlain, startPlain, type PlainRequest } from '../../src/executor/plain/child.ts'
import { isAlive, until, withEnvironment } from '../support/processes.ts'

const root = mkdtempSync(join(tmpdir(), 'plain-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const request = (commandLine: string, more: Partial<PlainRequest> = {}): PlainRequest => ({
  command: { commandLine },
  cwd: root,
  env: { PATH: process.env['PATH'] ?? '' },
  timeoutMs: 60_000,
  logFile: null,
  maxBytes: 1_000_000,
  tailBytes: 4096,
  marker: { name: 'PLAIN_TEST', value: randomUUID() },
  workspaceRoot: root,
  ...more,
})

describe('plain child', () => {
  it('keeps the exit code, both streams and the byte count (R-70, R-98)', async () => {
    const logFile = join(root, 'exit.log')
    const result = await runPlain(request('echo out; echo err >&2; exit 7', { logFile }))
    expect({ ...result, durationMs: 0 }).toEqual({
      exitCode: 7, signal: null, timedOut: false, aborted: false, spawnError: null, durationMs: 0, tail: result.tail, bytes: 8, logError: null,
      swept: { result: 'clean', ended: 0 },
    })
    expect(result.tail.split('\n').toSorted()).toEqual(['', 'err', 'out'])
    expect(readFileSync(logFile, 'utf8')).toBe(result.tail)
    expect(statSync(logFile).mode & 0o777).toBe(0o600)
  })

  it('reports death by a signal as that signal (R-70)', async () => {
    const result = await runPlain(request('kill -USR1 $$'))
    expect({ exitCode: result.exitCode, signal: result.signal, aborted: result.aborted }).toEqual({ exitCode: null, signal: 'SIGUSR1', aborted: false })
  })

  it('ends the whole tree at the timeout, an escaped grandchild that ignores SIGTERM included (R-37, F14, F15)', async () => {
    const asked = request('trap "" TERM; setsid sh -c \'trap "" TERM; while :; do sleep 1; done\' & while :; do sleep 1; done', {
      timeoutMs: 1000, killGraceMs: 300,
    })
    const result = await runPlain(asked)
    expect({ timedOut: result.timedOut, aborted: result.aborted, exitCode: result.exitCode, signal: result.signal, swept: result.swept.result })
      .toEqual({ timedOut: true, aborted: false, exitCode: null, signal: 'SIGKILL', swept: 'clean' })
    expect(withEnvironment(asked.marker.name, asked.marker.value)).toEqual([])
  })

  it('sweeps what a normal end leaves behind and does not wait for pipes it held (F15, F16)', async () => {
    const asked = request('setsid sleep 300 & echo done')
    const startedAt = performance.now()
    const result = await runPlain(asked)
    expect({ exitCode: result.exitCode, tail: result.tail, swept: result.swept }).toEqual({ exitCode: 0, tail: 'done\n', swept: { result: 'clean', ended: 1 } })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(withEnvironment(asked.marker.name, asked.marker.value)).toEqual([])
  })

  it('ends by an abort signal, also one that was raised before the start (R-94)', async () => {
    const controller = new AbortController()
    const asked = request('sleep 300', { signal: controller.signal })
    const running = runPlain(asked)
    await until(() => withEnvironment(asked.marker.name, asked.marker.value).length > 0, 'the child')
    controller.abort()
    const { aborted, timedOut, signal } = await running
    expect({ aborted, timedOut, signal }).toEqual({ aborted: true, timedOut: false, signal: 'SIGTERM' })
    expect((await runPlain(asked)).aborted).toBe(true)
    expect(withEnvironment(asked.marker.name, asked.marker.value)).toEqual([])
  })

  it('ends a stopped child (F13)', async () => {
    const asked = request('kill -STOP $$; sleep 300')
    const run = startPlain(asked)
    await until(() => readFileSync(`/proc/${run.pid}/stat`, 'latin1').includes(') T '), 'the stop')
    run.end('ladder')
    expect((await run.result).signal).toBe('SIGTERM')
    expect(isAlive(run.pid ?? 0)).toBe(false)
  })

  it('bounds memory and log of a flood, and keeps both ends (F17)', async () => {
    const logFile = join(root, 'flood.log')
    const result = await runPlain(request('echo first; head -c 50000000 /dev/zero | tr "\\0" x; echo; echo last', {
      logFile, maxBytes: 20_000, tailBytes: 100,
    }))
    const log = readFileSync(logFile, 'utf8')
    expect({ bytes: result.bytes, tail: result.tail.length, end: result.tail.slice(-6) }).toEqual({ bytes: 50_000_012, tail: 100, end: '\nlast\n' })
    expect(log.length).toBeLessThan(20_100)
    expect(log.startsWith('first\nxxx')).toBe(true)
    expect(log.endsWith('xxx\nlast\n')).toBe(true)
    expect(log).toContain('\n[49980012 bytes left out]\n')
  })

  it('replaces secrets in log and tail, also one that is cut by the start of the tail (T22)', async () => {
    const logFile = join(root, 'secret.log')
    const result = await runPlain(request('echo key tvly-secret; printf 123456789', {
      logFile, tailBytes: 14, redact: text => text.replaceAll('tvly-secret', '***'),
    }))
    expect(result.tail).toBe(' ***\n123456789')
    expect(readFileSync(logFile, 'utf8')).toBe('key ***\n123456789')
  })

  it('goes on when the log can not be written, and says so', async () => {
    const result = await runPlain(request('echo hi', { logFile: join(root, 'absent', 'x.log') }))
    expect({ exitCode: result.exitCode, tail: result.tail, told: result.logError?.includes('ENOENT') }).toEqual({ exitCode: 0, tail: 'hi\n', told: true })
  })

  it('survives a child that exits before it read its input (F21)', async () => {
    const result = await runPlain(request('exit 3', { input: 'x'.repeat(1_000_000) }))
    expect({ exitCode: result.exitCode, spawnError: result.spawnError }).toEqual({ exitCode: 3, spawnError: null })
  })

  it('tells missing program, missing interpreter, no permission, missing cwd, NUL and length apart (F23, F24)', async () => {
    const file = (name: string, text: string, mode: number): string => {
      writeFileSync(join(root, name), text, { mode })
      return join(root, name)
    }
    const reason = async (more: Partial<PlainRequest>): Promise<string | undefined> => (await runPlain(request('', more))).spawnError?.reason
    expect([
      await reason({ command: { argv: ['no-such-program'] } }),
      await reason({ command: { argv: [file('bad', '#!/no/such/interpreter\n', 0o755)] } }),
      await reason({ command: { argv: [file('plain', '#!/bin/sh\n', 0o644)] } }),
      await reason({ command: { argv: ['true'] }, cwd: join(root, 'gone') }),
      await reason({ command: { argv: ['echo', 'a\0b'] } }),
      await reason({ command: { argv: ['echo', 'x'.repeat(200_000)] } }),
    ]).toEqual(['not-found', 'bad-interpreter', 'not-executable', 'missing-cwd', 'bad-argument', 'argument-too-long'])
  })
})
