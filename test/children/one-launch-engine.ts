/** Starts the launch whose request is the first line of stdin, says `live` or `failed`, and then only waits: to be killed. */
import { createInterface } from 'node:readline'
import type { LaunchRequest } from '../../src/executor/keeper/launch-types.ts'
import { startLaunch } from '../../src/executor/keeper/launch.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const started = await startLaunch(JSON.parse(line) as LaunchRequest)
  console.log(started.kind)
}
