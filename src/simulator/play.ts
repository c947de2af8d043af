/**
 * Performs steps, one after the other. Knows what each step means; the turn around them (limits, results, background) belongs to `performance.ts`.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Conversation } from './conversation.ts'
import { flood, spawnEscapee, writeLongLine, writeRaw, writeSplitText } from './disturbances.ts'
import { blockBusy, blockDead, loopRound, pause, PlayOver } from './pause.ts'
import { apiRetryRecord, helperPromptRecord, permissionRequestRecord, taskNotificationRecord, taskStartedRecord } from './records.ts'
import type { Step } from './scenario.ts'
import type { Stage } from './stage.ts'
import type { Tools } from './tools.ts'

type StepOf<Name extends Step['do']> = Extract<Step, { readonly do: Name }>

export interface Player {
  /** `next` tells whether the reply goes on: a text before a tool call belongs to the same reply. */
  readonly step: (step: Step, next: Step | undefined, parent: string | null) => Promise<void>
}

interface PlayerFacts {
  readonly stage: Stage
  readonly talk: Conversation
  readonly tools: Tools
  /** Ends the process at once. */
  readonly leave: (how: { readonly code: number } | { readonly signal: string }) => void
}

const FILE_POLL_MS = 10
const CALLS_TOOL: ReadonlySet<Step['do']> = new Set(['text', 'write', 'edit', 'delete', 'read', 'bash', 'tool', 'helper', 'permission', 'denied'])
const BEFORE_INIT: ReadonlySet<Step['do']> = new Set(['init', 'hang', 'heartbeat', 'heartbeats', 'raw', 'flood', 'exit', 'die', 'ignore-signals', 'spawn',
  'wait-for-file', 'no-result'])

export function createPlayer(facts: PlayerFacts): Player {
  const { stage, talk, tools, leave } = facts
  const { sink, live, interrupt, heartbeat, ledger } = stage

  const helper = async (step: StepOf<'helper'>): Promise<void> => {
    const input = { description: step.description, prompt: step.prompt, subagent_type: 'general-purpose' }
    await talk.tool('Agent', input, null, async call => {
      const id = `a${randomUUID().slice(0, 8)}`
      sink.emit(taskStartedRecord({ id, toolUseId: call.id, description: step.description, type: 'local_agent', prompt: step.prompt }))
      sink.emit(helperPromptRecord(step.prompt, call.id))
      stage.toolStarted(0)
      for (const [index, inner] of step.steps.entries()) {
        if (inner.do !== 'text') await perform(inner, step.steps[index + 1], call.id)
      }
      const answer = step.answer ?? 'done'
      ledger.helperReply(answer)
      const usage = { total_tokens: 0, tool_uses: 0, duration_ms: 0 }
      sink.emit({ ...taskNotificationRecord({ id, toolUseId: call.id, outputFile: '', summary: step.description, status: 'completed' }), usage })
      return { content: answer, isError: false }
    })
  }
  const permission = async (step: StepOf<'permission'>): Promise<void> => {
    await talk.tool(step.tool, step.input ?? {}, null, async call => {
      if (stage.flags.permissionPromptTool !== undefined) sink.emit(permissionRequestRecord(randomUUID(), call))
      Object.assign(live, { state: 'requires_action', phase: 'waiting_for_permission', pendingPermissions: 1 })
      stage.toolStarted(0)
      await pause(step.afterMs, interrupt.signal)
      Object.assign(live, { state: 'running', pendingPermissions: 0 })
      if (step.toolMs !== undefined) await pause(step.toolMs, interrupt.signal)
      live.phase = 'in_turn'
      return { content: 'done', isError: false }
    })
  }
  const retries = async (step: StepOf<'api-retry'>): Promise<void> => {
    for (const [index, delayMs] of step.delaysMs.entries()) {
      const { status = 500, error = 'server_error', maxRetries = 10, from = 1 } = step
      sink.emit(apiRetryRecord({ attempt: from + index, maxRetries, delayMs, status, error }))
      await pause(step.waitMs ?? delayMs, interrupt.signal)
    }
  }
  const hang = async (step: StepOf<'hang'>): Promise<void> => {
    if (step.at === 'exit') {
      sink.finish()
      live.state = 'shutting_down'
      live.phase = 'shutting_down'
    }
    if (step.loop === 'dead') blockDead(step.ms)
    else if (step.loop === 'busy') blockBusy(step.ms)
    else return pause(step.ms, interrupt.signal)
    await loopRound()
  }
  const perform = async (step: Step, next: Step | undefined, parent: string | null): Promise<void> => {
    if (!BEFORE_INIT.has(step.do)) talk.init()
    switch (step.do) {
      case 'init':
        return talk.init()
      case 'text':
        return talk.text(step, step.more ?? (next !== undefined && CALLS_TOOL.has(next.do)))
      case 'write':
        return tools.write(step, parent)
      case 'edit':
        return tools.edit(step, parent)
      case 'read':
        return tools.read(step, parent)
      case 'delete':
        return tools.bash({ do: 'bash', command: `rm -rf -- '${step.path.replaceAll(`'`, `'\\''`)}'`, description: `delete ${step.path}` }, parent)
      case 'bash':
        return tools.bash(step, parent)
      case 'tool':
        return tools.pretend(step, parent)
      case 'denied':
        return tools.denied(step, parent)
      case 'helper':
        return helper(step)
      case 'permission':
        return permission(step)
      case 'api-retry':
        return retries(step)
      case 'api-error':
        talk.synthetic(step.text, step.error ?? 'server_error')
        talk.finishTurn({ kind: 'api-error', text: step.text }, {})
        throw new PlayOver()
      case 'hang':
        return hang(step)
      case 'wait-for-file':
        while (!existsSync(step.path)) await pause(FILE_POLL_MS, interrupt.signal)
        return
      case 'heartbeat':
        return heartbeat.beatNow({ ...step.state === undefined ? {} : { state: step.state }, ...step.phase === undefined ? {} : { phase: step.phase }, ...step.fields })
      case 'heartbeats':
        heartbeat.switchTo(step.on)
        return
      case 'record':
        return sink.emit(step.record)
      case 'raw':
        return writeRaw(stage, step)
      case 'long-line':
        return writeLongLine(stage, step)
      case 'flood':
        return flood(stage, step)
      case 'split-text':
        await writeSplitText(stage, step)
        return ledger.reply({ text: step.text, stopReason: 'end_turn' })
      case 'spawn':
        return stage.toolStarted(spawnEscapee(stage, step))
      case 'ignore-signals':
        return step.signals.forEach(signal => live.ignored.add(signal))
      case 'result':
        talk.settle()
        return talk.finishTurn({ kind: 'answer' }, step)
      case 'no-result':
        live.noResult = true
        return
      case 'exit':
        return leave({ code: step.code })
      case 'die':
        return leave({ signal: step.signal })
      case 'next-turn':
        return
      default:
        return step satisfies never
    }
  }
  return { step: perform }
}
