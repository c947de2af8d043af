/**
 * One run from the first step to the exit code: turns, their results, background tasks between them, and what an interrupt makes of an open tool.
 * Steps come from a list or from a test at the other end of a socket.
 */
import type { Conversation } from './conversation.ts'
import { interruptible, Interrupted, PlayOver } from './pause.ts'
import type { Player } from './play.ts'
import { taskNotificationRecord } from './records.ts'
import type { Step } from './scenario.ts'
import type { BackgroundTask, Stage } from './stage.ts'

const LAST_WORDS: Step = { do: 'text', text: 'Done.' }

/** Plays turn after turn: the first, and one for each background task that ends. Returns the exit code. */
export async function perform(stage: Stage, talk: Conversation, playTurn: (turn: number) => Promise<void>): Promise<number> {
  await performTurn(stage, talk, () => playTurn(0))
  for (let turn = 1; stage.live.background.length > 0; turn += 1) {
    if (!await nextBackgroundEnd(stage)) break
    beginNextTurn(stage)
    await performTurn(stage, talk, () => playTurn(turn))
  }
  return leaveStage(stage)
}

/** Turns of a list of steps; `next-turn` divides them. */
export function turnsOf(steps: readonly Step[], stage: Stage, player: Player): (turn: number) => Promise<void> {
  const turns = splitTurns(steps)
  return turn => playSteps(stage, player, turns[turn] ?? [])
}

/** Ends what is left and says the exit code. */
function leaveStage(stage: Stage): number {
  stage.sink.finish()
  stage.live.state = 'shutting_down'
  stage.live.phase = 'shutting_down'
  stage.session.saveTotals(stage.ledger.totals())
  if (stage.setup.keepSession === false) stage.session.remove()
  return stage.live.exitCode
}

/** Runs one turn's steps and sees to its result. */
async function performTurn(stage: Stage, talk: Conversation, steps: () => Promise<void>): Promise<void> {
  try {
    await steps()
    talk.settle()
    if (!stage.live.resultSent && !stage.live.noResult) talk.finishTurn({ kind: 'answer' }, {})
  } catch (error) {
    if (error instanceof Interrupted) talk.finishTurn({ kind: 'interrupted' }, {})
    else if (!(error instanceof PlayOver)) throw error
  }
  if (stage.live.background.length > 0) stage.live.phase = 'waiting_for_agents'
}

function beginNextTurn(stage: Stage): void {
  stage.ledger.newTurn()
  Object.assign(stage.live, { initSent: false, resultSent: false, noResult: false, phase: 'in_turn' })
}

async function playSteps(stage: Stage, player: Player, steps: readonly Step[]): Promise<void> {
  for (const [index, step] of steps.entries()) await player.step(step, steps[index + 1], null)
  const spoke = steps.some(step => step.do === 'text' || step.do === 'split-text')
  if (!stage.live.resultSent && !stage.live.noResult && !(spoke && endsInText(steps))) await player.step(LAST_WORDS, undefined, null)
}

/** A real model always answers after a tool result; a play that leaves this out gets a short last text. */
function endsInText(steps: readonly Step[]): boolean {
  const last = steps.findLast(step => ['text', 'split-text', 'write', 'edit', 'delete', 'read', 'bash', 'tool', 'helper', 'permission', 'denied'].includes(step.do))
  return last?.do === 'text' || last?.do === 'split-text'
}

/** Waits for one background task and reports it. False: interrupted. */
async function nextBackgroundEnd(stage: Stage): Promise<boolean> {
  const { live, sink, interrupt } = stage
  try {
    const { task, code } = await interruptible(Promise.race(live.background.map(endOf)), interrupt.signal)
    live.background = live.background.filter(other => other !== task)
    const status = code === 0 ? 'completed' : 'failed'
    const summary = `Background command "${task.description}" ${status} (exit code ${code})`
    sink.emit(taskNotificationRecord({ id: task.id, toolUseId: task.toolUseId, outputFile: task.outputFile, summary, status }))
    return true
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    for (const task of live.background) task.shell.kill()
    return false
  }
}

async function endOf(task: BackgroundTask): Promise<{ readonly task: BackgroundTask, readonly code: number }> {
  const { code } = await task.shell.ended
  return { task, code }
}

function splitTurns(steps: readonly Step[]): readonly (readonly Step[])[] {
  const turns: Step[][] = [[]]
  for (const step of steps) {
    if (step.do === 'next-turn') turns.push([])
    else turns.at(-1)?.push(step)
  }
  return turns
}
