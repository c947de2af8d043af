/** `abort [run]`. */
import type { DriveOptions } from '../drive-run.ts'
import type { CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { sendCommand } from './control.ts'

export async function abortCommand([run]: readonly string[], options: CommonOptions & DriveOptions, output: Output): Promise<number> {
  return sendCommand(run ?? null, { kind: 'abort' }, options, output)
}
