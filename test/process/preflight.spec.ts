import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { OpenClaudeError } from '../../src/errors.ts'
import { preflightOpenclaude, type PreflightContext } from '../../src/executor/openclaude/preflight.ts'
import { SIM_COMMAND } from '../support/sim-rig.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const script = (path: string, text: string): string => {
  const file = join(root, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, 0o755)
  return file
}
interface Changes {
  readonly config?: Partial<PreflightContext['config']>
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
}
const context = ({ config = {}, env = {}, uid = 1000 }: Changes): PreflightContext => ({
  config: { executable: SIM_COMMAND, permissionMode: '', addDirs: [], ...config },
  cwd: root, env: { PATH: process.env['PATH'] ?? '', HOME: root, ...env }, uid, redact: text => text,
})
const fault = async (changes: Changes): Promise<OpenClaudeError> => {
  const error: unknown = await preflightOpenclaude(context(changes)).then(() => null, (reason: unknown) => reason)
  if (error instanceof OpenClaudeError) return error
  throw new Error('Nothing was thrown', { cause: error })
}

describe('pre-flight of OpenClaude', () => {
  it('names executable, version and the Node of the child (R-85)', async () => {
    const facts = await preflightOpenclaude(context({}))
    expect(facts.executable).toBe(SIM_COMMAND.join(' '))
    expect(facts.version).toMatch(/^\d+\.\d+\.\d+/)
    expect(facts.notes).toEqual([`The child runs on Node ${process.version}.`])
  })

  it('warns of a version whose output was never measured (R-64)', async () => {
    const executable = [script('future/openclaude', '#!/bin/sh\necho "1.0.0 (OpenClaude)"\n')]
    const facts = await preflightOpenclaude(context({ config: { executable } }))
    expect([facts.version, facts.warnings?.length, facts.warnings?.[0]?.includes('1.0.0')]).toEqual(['1.0.0', 1, true])
    expect((await preflightOpenclaude(context({}))).warnings).toEqual([])
  })

  it('explains the root rule and IS_SANDBOX, and lets a sandbox or a stricter mode pass (R-22)', async () => {
    for (const permissionMode of ['', 'bypassPermissions', 'fullAccess']) {
      const error = await fault({ uid: 0, config: { permissionMode } })
      expect([error.code, error.message.includes('IS_SANDBOX=1'), error.fix?.includes('another user')]).toEqual(['OC_ENV_ROOT', true, true])
    }
    expect((await fault({ uid: 0, env: { IS_SANDBOX: 'true' } })).code).toBe('OC_ENV_ROOT')
    expect((await preflightOpenclaude(context({ uid: 0, env: { IS_SANDBOX: '1' } }))).notes.length).toBe(1)
    expect((await preflightOpenclaude(context({ uid: 0, config: { permissionMode: 'acceptEdits' } }))).notes.length).toBe(1)
  })

  it('refuses a Node that OpenClaude would refuse, as the child finds it (OC 0.13)', async () => {
    script('old/node', '#!/bin/sh\necho v20.20.2\n')
    const executable = script('bin/openclaude', '#!/usr/bin/env node\n')
    const error = await fault({ config: { executable: [executable] }, env: { PATH: `${root}/old:/usr/bin:/bin` } })
    expect([error.code, error.message]).toEqual(['OC_ENV_NODE', 'The child would run on Node v20.20.2, but OpenClaude needs Node 22 or newer.'])
    expect((await fault({ config: { executable: [join(root, 'old', 'node'), executable] } })).code).toBe('OC_ENV_NODE')
  })

  it('shows what an executable says that does not answer --version', async () => {
    const executable = script('bin/broken', '#!/bin/sh\necho it is broken >&2\nexit 3\n')
    const error = await fault({ config: { executable: [executable] } })
    expect([error.code, error.message]).toEqual(['OC_CHILD_VERSION', `${executable} did not answer --version: exit code 3, output: it is broken.`])
  })

  it('lists the places for a missing executable before anything starts (R-13, T14)', async () => {
    const error = await fault({ config: { executable: ['no-such-openclaude'] } })
    expect([error.code, error.exitCode, error.message.includes('PATH of the child is:')]).toEqual(['OC_CHILD_NOT_FOUND', 3, true])
  })

  it('lists every missing extra directory (R-26)', async () => {
    const error = await fault({ config: { addDirs: [root, join(root, 'a'), join(root, 'b')] } })
    expect([error.code, error.faults.map(one => one.path)]).toEqual(['OC_CONFIG_INVALID', ['$.addDirs[1]', '$.addDirs[2]']])
  })
})
