/** `sim`: runs the simulator in the place of OpenClaude, for rehearsals without a model. */
import { runSimulator } from '../../simulator/run-simulator.ts'

export async function simCommand(argv: readonly string[]): Promise<number> {
  return await runSimulator(argv, process.env, process)
}
