/**
 * A child that owns one task while it lives: `owner.ts <folder> <task> <ms>`. Reads its prompt, notes start and end in `<folder>/owners`,
 * notes OVERLAP when an earlier owner of the task still lives, prints stream-json lines and a final result that tells how long the prompt was.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessIdentity } from '../../src/core/attempt-types.ts'
import { identify, isAlive } from '../../src/executor/process/identity.ts'

const [folder = '', task = '', ms = '0'] = process.argv.slice(2)
const STEPS = 10
const note = (word: string): void => appendFileSync(join(folder, 'owners'), `${word} ${task} ${process.pid}\n`)
const ownerFile = join(folder, `owner-${task}`)

let earlier: ProcessIdentity | null
try {
  earlier = JSON.parse(readFileSync(ownerFile, 'utf8')) as ProcessIdentity
} catch {
  earlier = null
}
note(earlier !== null && isAlive(earlier) ? 'OVERLAP' : 'start')
writeFileSync(ownerFile, JSON.stringify(identify(process.pid)))

let promptBytes = 0
for await (const chunk of process.stdin) promptBytes += (chunk as Buffer).length
console.log(JSON.stringify({ type: 'system', subtype: 'init', session_id: task, model: 'none' }))
for (let step = 1; step <= STEPS; step++) {
  await sleep(Number(ms) / STEPS)
  console.log(JSON.stringify({ type: 'stream_event', step, parent_tool_use_id: null }))
}
console.log(JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: `${task} read ${promptBytes}` }))
note('end')
