import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OpenClaudeError } from '../../src/errors.ts'
import type { Executor } from '../../src/executor/executor.ts'
import { newExecutorRegistry } from '../../src/executor/registry.ts'
import { removeSessions, sessionStore } from '../../src/executor/openclaude/sessions.ts'
import { anySignal } from '../../src/executor/process/signals.ts'

const executor = (name: string, agent: boolean): Executor => ({
  name, agent,
  preflight: () => Promise.resolve({ executable: name, version: '1', notes: [] }),
  start: () => { throw new Error('not started here') },
})

describe('composite signals (R-58, R-94)', () => {
  it('fires with the reason of the first source', () => {
    const first = new AbortController()
    const second = new AbortController()
    const both = anySignal([first.signal, second.signal])
    expect(both.aborted).toBe(false)
    second.abort('why')
    expect([both.aborted, both.reason]).toEqual([true, 'why'])
  })

  it('refuses an empty list even behind a cast', () => {
    expect(() => anySignal([] as unknown as [AbortSignal])).toThrow(OpenClaudeError)
  })
})

describe('registry of executors (R-52)', () => {
  it('finds by name, lists agents, refuses a second of the same name, and forgets', () => {
    const registry = newExecutorRegistry([executor('openclaude', true), executor('command', false)])
    const forget = registry.registerExecutor(executor('echo', true))
    expect([registry.names(), registry.agents(), registry.get('echo')?.name]).toEqual([['openclaude', 'command', 'echo'], ['openclaude', 'echo'], 'echo'])
    expect(() => registry.registerExecutor(executor('echo', true))).toThrow('Executor "echo" is registered already.')
    forget()
    expect([registry.names(), registry.get('echo')]).toEqual([['openclaude', 'command'], undefined])
  })
})

describe('removing sessions of ours', () => {
  it('takes exactly the minted ids, with replay files and folders, in every project', async () => {
    const store = mkdtempSync(join(tmpdir(), 'store-'))
    try {
      const [mine, other] = ['0b9f8a52-7d1a-4a1e-9d55-000000000001', '0b9f8a52-7d1a-4a1e-9d55-000000000002']
      for (const project of ['-a', '-b']) {
        mkdirSync(join(store, 'projects', project, mine), { recursive: true })
        for (const name of [`${mine}.jsonl`, `${mine}.replay.json`, `${other}.jsonl`, 'notes.txt']) writeFileSync(join(store, 'projects', project, name), '')
      }
      expect(await removeSessions(store, [mine, '..', ''])).toBe(6)
      expect(readdirSync(join(store, 'projects', '-a')).toSorted()).toEqual([`${other}.jsonl`, 'notes.txt'])
      expect(await removeSessions(join(store, 'absent'), [mine])).toBe(0)
      expect(existsSync(join(store, 'projects', '-b', 'notes.txt'))).toBe(true)
    } finally {
      rmSync(store, { recursive: true, force: true })
    }
  })

  it('knows where OpenClaude keeps them', () => {
    expect([sessionStore({ HOME: '/h' }), sessionStore({ HOME: '/h', OPENCLAUDE_CONFIG_DIR: '/c' }), sessionStore({})]).toEqual(['/h/.openclaude', '/c', null])
  })
})
