#!/usr/bin/env node
/** Entry of the `openclaude-sim` command. */
import { runSimulator } from './run-simulator.ts'

try {
  process.exit(await runSimulator(process.argv.slice(2), process.env, process))
} catch (error) {
  process.stderr.write(`openclaude-sim: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(70)
}
