import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config.ts'
import { openclaudeFlags } from '../../src/executor/openclaude/argv.ts'

const context = { cwd: '/somewhere', home: '/home/ann', env: {}, surface: 'cli' } as const

test('a partial object gives a complete configuration: no undefined reaches code that needs text (R-106, R-45)', () => {
  const { config } = resolveConfig({ flag: { value: { model: 'm', provider: undefined }, source: 'test' } }, context)
  expect(Object.entries(config).filter(([, value]) => value === undefined)).toEqual([])
  expect(openclaudeFlags(config, { mode: 'fresh', sessionId: 's' })).toContain('m')
})

test('a provider that the help of OpenClaude does not list is passed on as it is written (R-10)', () => {
  const { config } = resolveConfig({ flag: { value: { provider: 'nvidia-nim' }, source: 'test' } }, context)
  const flags = openclaudeFlags(config, { mode: 'fresh', sessionId: 's' })
  expect(flags.slice(flags.indexOf('--provider'), flags.indexOf('--provider') + 2)).toEqual(['--provider', 'nvidia-nim'])
})

test('an empty provider and model mean no flag: OpenClaude keeps its own setting (R-8)', () => {
  const { config } = resolveConfig({}, context)
  const flags = openclaudeFlags(config, { mode: 'fresh', sessionId: 's' })
  expect(['--provider', '--model', '--settings'].filter(flag => flags.includes(flag))).toEqual([])
})
