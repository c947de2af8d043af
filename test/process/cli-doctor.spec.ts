import { describe, expect, test } from 'vitest'
import type { Scenario } from '../../src/simulator/scenario.ts'
import { cliRig } from '../support/cli-rig.ts'

interface Finding {
  readonly subject: string
  readonly level: string
  readonly message: string
}

async function doctor(scenario: Scenario, args: readonly string[]): Promise<{ readonly code: number | null, readonly findings: Map<string, Finding> }> {
  const ended = await cliRig({ scenario }).run(['doctor', '--json', ...args])
  const { findings } = JSON.parse(ended.stdout) as { findings: Finding[] }
  return { code: ended.code, findings: new Map(findings.map(finding => [finding.subject, finding])) }
}

describe('doctor', () => {
  test('looks at node, machine, state, checks and the executable without asking a model (R-85)', async () => {
    const { code, findings } = await doctor({ rules: [{ play: [{ do: 'exit', code: 9 }] }] }, [])
    expect([code, [...findings.values()].map(finding => [finding.subject, finding.level])]).toEqual([0, [
      ['node', 'ok'], ['machine', 'ok'], ['work directory', 'ok'], ['state directory', 'ok'], ['checks', 'ok'], ['openclaude', 'ok'],
    ]])
    expect(findings.get('node')?.message).toContain(process.arch)
    expect(findings.get('checks')?.message).toContain('test: npm')
  })

  test('--live lets one prompt be answered and names the model (R-9)', async () => {
    const { code, findings } = await doctor({ setup: { model: 'mock-ready' }, rules: [{ play: [{ do: 'text', text: 'ready' }] }] }, ['--live'])
    expect([code, findings.get('live prompt')?.level]).toEqual([0, 'ok'])
    expect(findings.get('live prompt')?.message).toContain('mock-ready')
  })

  test('--live fails with what the model service said (R-9)', async () => {
    const { code, findings } = await doctor({ rules: [{ play: [{ do: 'api-error', text: 'API Error: 401 no such key' }] }] }, ['--live'])
    expect([code, findings.get('live prompt')?.level]).toEqual([3, 'error'])
    expect(findings.get('live prompt')?.message).toContain('401 no such key')
  })

  test('--live explains a tool call at the limit of one turn (R-9)', async () => {
    const { code, findings } = await doctor({ rules: [{ play: [{ do: 'read', path: 'package.json' }, { do: 'text', text: 'never' }] }] }, ['--live'])
    expect([code, findings.get('live prompt')?.level]).toEqual([3, 'error'])
    expect(findings.get('live prompt')?.message).toContain('limit of one turn')
  })
})
