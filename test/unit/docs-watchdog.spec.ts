import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { defaultConfig } from '../../src/config.ts'
import type { Clock } from '../../src/core/attempt-types.ts'
import { MISSED_HEARTBEATS } from '../../src/executor/watchdog/settings.ts'
import { DEFAULT_CLOCKS } from '../support/default-clocks.ts'

/** Clock and default of each row of the table in the documentation. */
function documentedClocks(): Readonly<Record<string, number>> {
  const text = readFileSync(new URL('../../docs/watchdog.md', import.meta.url), 'utf8')
  const rows = text.split('\n').map(line => line.split('|').map(cell => cell.trim())).filter(cells => cells.length === 7 && /^`[a-z-]+`$/.test(cells[1] ?? ''))
  return Object.fromEntries(rows.map(cells => [(cells[1] ?? '').replaceAll('`', ''), Number(cells[4])]))
}

describe('the documented clocks', () => {
  it('are all clocks with their defaults', () => {
    const { firstEventTimeoutMs, idleTimeoutMs, toolTimeoutMs, agentToolTimeoutMs, backgroundTimeoutMs, settleTimeoutMs, maxRuntimeMs, heartbeatMs } = DEFAULT_CLOCKS
    const defaults = {
      'first-event': firstEventTimeoutMs, 'idle': idleTimeoutMs, 'tool': toolTimeoutMs, 'agent-tool': agentToolTimeoutMs, 'retry-wait': idleTimeoutMs,
      'background': backgroundTimeoutMs, 'settle': settleTimeoutMs, 'event-loop': MISSED_HEARTBEATS * (heartbeatMs ?? 0), 'requires-action': 0, 'max-runtime': maxRuntimeMs,
    } satisfies Record<Clock, number>
    expect(documentedClocks()).toEqual(defaults)
  })

  it('are those of the configuration', () => {
    const { heartbeatMs, ...clocks } = DEFAULT_CLOCKS
    expect(defaultConfig('cli')).toMatchObject({ ...clocks, heartbeat: `${String((heartbeatMs ?? 0) / 1000)}s` })
  })
})
