/** `resume [run]`. */
import { resumeRun } from '../../engine/runs/runs.ts'
import { PRODUCT_VERSION } from '../../version.ts'
import { deferredView, driveRun, type DriveOptions } from '../drive-run.ts'
import { exitCodeOfEnd } from '../exit-code.ts'
import { renderResult } from '../entry-lines.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'

export async function resumeCommand([run]: readonly string[], options: CommonOptions & DriveOptions, output: Output): Promise<number> {
  const view = deferredView()
  const resumed = await resumeRun({ run: run ?? null, config: configOf(options), version: PRODUCT_VERSION, observers: [view] })
  if (resumed.kind === 'finished') {
    output.say(`run ${resumed.run} is finished already: ${renderResult(resumed.result)}`)
    output.document({ run: resumed.run, result: resumed.result })
    return exitCodeOfEnd({ kind: 'finished', result: resumed.result }, null)
  }
  return driveRun(resumed.active, view, options, output)
}
