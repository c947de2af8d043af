/** Shows a run while it is driven in this process, obeys signals, and ends with the report and the exit code. */
import type { WriteStream } from 'node:tty'
import { join } from 'node:path'
import type { EngineObserver } from '../engine/drive/engine.ts'
import type { ActiveRun, FinishedRun } from '../engine/runs/active-run.ts'
import type { RunHistory } from '../report/history.ts'
import { renderResult } from './entry-lines.ts'
import { exitCodeOfEnd } from './exit-code.ts'
import { createLiveView, createPlainView, type RunView } from './live-view.ts'
import type { Output } from './output.ts'
import { watchSignals } from './signals.ts'
import { countsLine } from './task-rows.ts'

export interface DriveOptions {
  readonly abortOnStdinEof?: boolean
  readonly plain?: boolean
}

/** An observer that may be handed to a run before it is known what it will show. */
export interface DeferredView extends EngineObserver {
  readonly show: (view: RunView) => void
  readonly close: () => void
}

export function deferredView(): DeferredView {
  let view: RunView | null = null
  return {
    entries: (entries, state) => view?.entries?.(entries, state),
    activity: (task, attempt, activity) => view?.activity?.(task, attempt, activity),
    show: shown => { view = shown },
    close: () => view?.close(),
  }
}

export async function driveRun(active: ActiveRun, view: DeferredView, options: DriveOptions, output: Output): Promise<number> {
  for (const warning of active.warnings) output.warn(`warning: ${warning}`)
  output.say(`run ${active.run} in ${active.workdir}`)
  view.show(chooseView(active.history, options, output))
  const signals = watchSignals(active.engine, { stdinEof: options.abortOnStdinEof === true, say: output.warn })
  try {
    active.start()
    const finished = await active.finished
    view.close()
    tell(finished, output)
    output.document(finished.report)
    return exitCodeOfEnd(finished.end, signals.first())
  } finally {
    view.close()
    signals.close()
  }
}

function chooseView(history: RunHistory, options: DriveOptions, output: Output): RunView {
  const stream: NodeJS.WriteStream = output.json ? process.stderr : process.stdout
  if (!stream.isTTY || options.plain === true) return createPlainView(output.say)
  return createLiveView(stream as WriteStream, history)
}

function tell(finished: FinishedRun, output: Output): void {
  const { end, history, runDir } = finished
  output.say('')
  output.say(end.kind === 'finished' ? `run ${history.run}: ${renderResult(end.result)}` : `run ${history.run}: stopped (${end.reason})${runDir === null ? '' : `; go on with: dsh-openclaude resume ${history.run}`}`)
  output.say(countsLine(history))
  for (const task of history.tasks) {
    if (task.handoff === null || runDir === null) continue
    output.say(`${task.id} waits for a decision: ${task.reason ?? ''}`)
    // What a required check refuted can't be accepted, by nobody.
    const answers = task.attempts.at(-1)?.verdicts.at(-1)?.kind === 'rejected' ? 'retry|drop' : 'accept|retry|drop'
    output.say(`  dsh-openclaude resolve ${history.run} ${task.id} ${answers} --note "why"`)
  }
  const midway = runDir !== null && history.result?.kind === 'halted' ? history.tasks.find(({ status }) => status !== 'accepted' && status !== 'blocked') : undefined
  if (midway !== undefined) output.say(`it goes on with: dsh-openclaude retry ${history.run} ${midway.id}`)
  if (runDir !== null) output.say(`report: ${join(runDir, 'report.md')}`)
}
