/** `crash-engine.ts start|resume <file>`: drives a run over the cheap executor; made to be killed. Exits 0 when the run is complete. */
import { readFileSync } from 'node:fs'
import { driveNew, driveOld, type EngineArguments } from '../support/engine-rig.ts'

const [command = '', file = ''] = process.argv.slice(2)
const given = JSON.parse(readFileSync(file, 'utf8')) as EngineArguments
const result = command === 'start' ? await driveNew(given) : await driveOld(given)
process.exitCode = result === 'complete' ? 0 : 1
