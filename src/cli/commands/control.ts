/** What `retry`, `resolve` and `abort` share: a command for a run goes into the spool of its live engine, or is carried out here by taking the run over. */
import type { ControlCommand } from '../../core/run-types.ts'
import { controlRun } from '../../engine/runs/runs.ts'
import { PRODUCT_VERSION } from '../../version.ts'
import { deferredView, driveRun, type DriveOptions } from '../drive-run.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { userInfo } from 'node:os'

export async function sendCommand(
  run: string | null,
  command: ControlCommand,
  options: CommonOptions & DriveOptions,
  output: Output,
): Promise<number> {
  const view = deferredView()
  const sent = await controlRun({
    run, command, by: userInfo().username, config: configOf(options), version: PRODUCT_VERSION, observers: [view],
  })
  switch (sent.kind) {
    case 'delivered':
      output.say(`handed to the engine that drives run ${sent.run} (pid ${sent.pid})`)
      output.document({ run: sent.run, delivered: true, pid: sent.pid })
      return 0
    case 'nothing':
      output.say(sent.message)
      output.document({ run: sent.run, delivered: false, message: sent.message })
      return 0
    case 'active':
      return driveRun(sent.active, view, options, output)
  }
}
