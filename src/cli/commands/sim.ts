/** `sim`: runs the simulator in the place of OpenClaude, for rehearsals without a model. */
import { runSimulator } from '../../simulator/run.ts'

export async function simCommand(argv: readonly string[]): Promise<number> {
  return await runSimulator(argv, process.env, { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr })
}
