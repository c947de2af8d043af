/**
 * The smallest engine around one attempt: `node attempt-engine.ts <file>` with `{ config, request, facts, outcome }` as JSON.
 * Appends each fact to the file `facts` before it takes effect, writes the outcome to the file `outcome`. To be killed or stopped by a test.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { LaunchFact } from '../../src/core/attempt-types.ts'
import type { ResolvedConfig } from '../../src/core/config-types.ts'
import { applyLaunchFact, newLaunches } from '../../src/core/launches.ts'
import type { AttemptRequest } from '../../src/executor/executor.ts'
import { createOpenClaudeExecutor } from '../../src/executor/openclaude/openclaude.ts'

export interface EngineSpec {
  readonly config: ResolvedConfig
  readonly request: AttemptRequest
  readonly facts: string
  readonly outcome: string
}

const { config, request, facts, outcome } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as EngineSpec

const launches = newLaunches()
const earlier = existsSync(facts) ? readFileSync(facts, 'utf8').split('\n').filter(line => line !== '') : []
for (const line of earlier) applyLaunchFact(launches, JSON.parse(line) as LaunchFact)

const executor = createOpenClaudeExecutor(config, { environment: process.env, envMode: 'inherit', uid: null, redact: text => text })
const handle = executor.start({ ...request, launches }, {
  record: fact => {
    appendFileSync(facts, `${JSON.stringify(fact)}\n`)
    return Promise.resolve()
  },
  activity: () => {},
  fingerprint: () => Promise.resolve('tree'),
  redact: text => text,
})
process.on('SIGTERM', () => handle.end('stop'))
writeFileSync(outcome, JSON.stringify(await handle.outcome))
