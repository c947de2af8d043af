/** Hands the commands of the control spool to the engine of a run. Commands for another run of the repository are told and dropped. */
import { watchControl, type ControlWatch } from './control-spool.ts'
import type { Engine } from '../drive/engine.ts'
import type { RepositoryPlace } from '../state/state-dir.ts'

export interface RunControlWatch {
  readonly start: () => void
  /** Resolves when no command is being handed over any more. Idempotent. */
  readonly close: () => Promise<void>
}

export interface WatchOptions {
  readonly place: RepositoryPlace
  readonly run: string
  readonly engine: Engine
  /** Makes everything journalled so far durable. */
  readonly flush: () => Promise<void>
  /** Ids of commands that are in the journal already. */
  readonly seen: ReadonlySet<string>
}

export function watchRunControl({ place, run, engine, flush, seen }: WatchOptions): RunControlWatch {
  let watch: ControlWatch | null = null
  return {
    start: () => {
      watch = watchControl(place.controlDir, async (message) => {
        if (message.run === run) {
          await engine.control(message.id, message.by, message.command)
          // Its file is deleted next: the journal must hold the command before that.
          return flush()
        }
        engine.post({
          type: 'warning', code: 'control-other-run',
          message: `a command (${message.command.kind}) was for run ${message.run}, which no engine drives; it was dropped`,
        })
      }, {
        seen,
        onWarning: text => engine.post({ type: 'warning', code: 'control-rejected', message: text }),
        // An engine that is leaving refuses; the command stays in the spool for the next one.
        onError: (error) => {
          if (!engine.leaving) engine.fail(error)
        },
      })
    },
    close: async () => watch?.close(),
  }
}
