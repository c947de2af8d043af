#!/usr/bin/env node
/** Entry of the `openclaude-sim` command. */
import { runSimulator } from './run-simulator.ts'

try {
  const code = await runSimulator(process.argv.slice(2), process.env, process)
  // A pipe takes a long line in pieces; what it has not taken yet would be lost.
  await new Promise(resolve => process.stdout.write('', resolve))
  process.exit(code)
} catch (error) {
  process.stderr.write(`openclaude-sim: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(70)
}
