import { describe, expect, it } from 'vitest'
import { OPENCLAUDE_DEFAULTS, openclaudeEnv, plainEnv } from '../../src/executor/process/child-env.ts'

const caller = { PATH: '/bin', HOME: '/h', LC_ALL: 'C', OPENAI_API_KEY: 'k', GONE: undefined, DSH_OPENCLAUDE_LAUNCH: 'outer' }

describe('environment of a child', () => {
  it('passes the caller\'s environment on, with limits that let OpenClaude heal itself first (R-24)', () => {
    expect(openclaudeEnv({ mode: 'inherit', caller, config: { env: {}, envPass: [] } })).toEqual({
      PATH: '/bin', HOME: '/h', LC_ALL: 'C', OPENAI_API_KEY: 'k',
      OPENCLAUDE_DISABLE_HEAP_RELAUNCH: '1', CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1', CLAUDE_CODE_CONTAINER_ID: 'dsh-openclaude',
      API_TIMEOUT_MS: '120000', CLAUDE_STREAM_IDLE_TIMEOUT_MS: '60000', OPENCLAUDE_MAX_RETRIES: '3',
    })
  })

  it('lets the configuration win over caller and defaults (R-24)', () => {
    const env = openclaudeEnv({ mode: 'inherit', caller, config: { env: { API_TIMEOUT_MS: '900000', PATH: '/other', NEW: 'x' }, envPass: [] } })
    expect([env['API_TIMEOUT_MS'], env['PATH'], env['NEW']]).toEqual(['900000', '/other', 'x'])
  })

  it('passes only known and named variables where the environment is an allow-list (R-24)', () => {
    expect(openclaudeEnv({ mode: 'allow-list', caller, config: { env: {}, envPass: [] } }))
      .toEqual({ PATH: '/bin', HOME: '/h', LC_ALL: 'C', ...OPENCLAUDE_DEFAULTS })
    expect(openclaudeEnv({ mode: 'allow-list', caller, config: { env: {}, envPass: ['OPENAI_API_KEY', 'ABSENT'] } }))
      .toEqual({ PATH: '/bin', HOME: '/h', LC_ALL: 'C', OPENAI_API_KEY: 'k', ...OPENCLAUDE_DEFAULTS })
  })

  it('never claims a sandbox that nobody set up (R-22)', () => {
    expect(openclaudeEnv({ mode: 'inherit', caller: {}, config: { env: {}, envPass: [] } })).not.toHaveProperty('IS_SANDBOX')
    expect(openclaudeEnv({ mode: 'allow-list', caller: { IS_SANDBOX: '1' }, config: { env: {}, envPass: [] } })).toHaveProperty('IS_SANDBOX', '1')
  })

  it('gives checks and plain commands nothing of OpenClaude\'s', () => {
    expect(plainEnv({ mode: 'inherit', caller, config: { env: { NEW: 'x' }, envPass: [] } }))
      .toEqual({ PATH: '/bin', HOME: '/h', LC_ALL: 'C', OPENAI_API_KEY: 'k', NEW: 'x' })
  })
})
