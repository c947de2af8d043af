/** `retry <run> <task>`. */
import type { DriveOptions } from '../drive-run.ts'
import type { CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { sendCommand } from './control.ts'

export async function retryCommand(
  [run = '', task = '']: readonly string[],
  options: CommonOptions & DriveOptions & { readonly guidance?: string },
  output: Output,
): Promise<number> {
  return sendCommand(run, { kind: 'retry', task, guidance: options.guidance ?? '' }, options, output)
}
