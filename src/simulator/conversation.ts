/**
 * The model's side of the stream: replies with their text and tool_use blocks, stream events where they were asked for, and the limits that end a turn.
 * A reply ends with its last text, or with the result of its tool call.
 */
import { randomUUID } from 'node:crypto'
import { Interrupted, interruptible, pause, PlayOver } from './pause.ts'
import type { JsonRecord, ToolCall, ToolOutcome } from './records.ts'
import { assistantRecord, initRecord, messageHead, streamEventRecord, syntheticRecord, textBlock, toolBlock, toolResultRecord } from './records.ts'
import type { ReportBlock, ResultOverrides, Step } from './scenario.ts'
import type { Ending } from './ledger.ts'
import type { Stage } from './stage.ts'

type TextStep = Extract<Step, { readonly do: 'text' }>

interface Reply {
  readonly id: string
  blocks: number
  text: string
}

export interface Conversation {
  readonly init: () => void
  readonly text: (step: TextStep, more: boolean) => Promise<void>
  /** `run` performs the tool. A parent makes it a helper's call: not counted, not streamed. */
  readonly tool: (name: string, input: JsonRecord, parent: string | null, run: (call: ToolCall) => Promise<ToolOutcome>) => Promise<ToolOutcome>
  readonly synthetic: (text: string, error: string) => void
  /** Ends a reply that was left open with `more`. */
  readonly settle: () => void
  readonly finishTurn: (ending: Ending, overrides: ResultOverrides) => void
}

const TOOL_NAMES = ['Task', 'AskUserQuestion', 'Bash', 'Read', 'Write', 'Edit']
const CHUNK_CHARACTERS = 24
const INTERRUPTED_TOOL: ToolOutcome = {
  content: '<error>Command was interrupted because the enclosing query was aborted.</error>',
  isError: true,
}

export function createConversation(stage: Stage): Conversation {
  const { sink, ledger, flags, model, session, live } = stage
  const partial = flags.partialMessages && sink.streams
  let reply: Reply | null = null
  let calls = 0

  const event = (body: JsonRecord): void => {
    if (partial) sink.emit(streamEventRecord(body))
  }
  const openReply = (): Reply => {
    init()
    if (reply !== null) return reply
    reply = { id: `msg_${randomUUID().replaceAll('-', '')}`, blocks: 0, text: '' }
    event({ type: 'message_start', message: messageHead(reply.id, model) })
    return reply
  }
  const closeReply = (stopReason: 'end_turn' | 'tool_use'): void => {
    if (reply === null) return
    const { text } = reply
    reply = null
    ledger.reply({ text, stopReason })
    event({ type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null } })
    event({ type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { input_tokens: 100, output_tokens: Math.ceil(text.length / 4) } })
    event({ type: 'message_stop' })
  }
  const init = (): void => {
    if (live.initSent) return
    live.initSent = true
    live.state = 'running'
    live.phase = 'in_turn'
    sink.emit(initRecord({ cwd: stage.cwd, model, permissionMode: flags.permissionMode, tools: flags.tools ?? TOOL_NAMES }))
  }
  const block = async (head: JsonRecord, deltas: readonly JsonRecord[], shown: JsonRecord, wait: (index: number) => Promise<void>): Promise<void> => {
    const open = openReply()
    const index = open.blocks
    open.blocks += 1
    event({ type: 'content_block_start', index, content_block: head })
    for (const [position, delta] of deltas.entries()) {
      event({ type: 'content_block_delta', index, delta })
      await wait(position)
    }
    sink.emit(assistantRecord(open.id, model, shown, null))
    event({ type: 'content_block_stop', index })
  }
  const finishTurn = (ending: Ending, overrides: ResultOverrides): void => {
    const record = ledger.result(ending, overrides)
    sink.emit(record)
    live.resultSent = true
    live.exitCode = record['is_error'] === true && ending.kind !== 'interrupted' ? 1 : 0
  }
  const checkLimits = (): void => {
    const { maxTurns, maxBudgetUsd } = flags
    if (maxBudgetUsd !== undefined && ledger.costUsd() >= maxBudgetUsd) endTurn({ kind: 'budget', limit: maxBudgetUsd })
    if (maxTurns !== undefined && maxTurns > 0 && ledger.replies() >= maxTurns) endTurn({ kind: 'max-turns', limit: maxTurns })
  }
  /** The call enters the stored conversation only together with its result: a killed one is not in it (measured). */
  const takeResult = (call: ToolCall, outcome: ToolOutcome, parent: string | null): void => {
    sink.emit(toolResultRecord(call, outcome, parent))
    if (parent !== null) return
    session.append({ type: 'assistant', message: { role: 'assistant', content: [toolBlock(call)] } })
    session.append({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: outcome.content }] } })
  }
  const endTurn = (ending: Ending): never => {
    finishTurn(ending, {})
    throw new PlayOver()
  }

  return {
    init,
    finishTurn,
    settle: () => closeReply('end_turn'),
    text: async (step, more) => {
      const text = withReport(step.text, step.report)
      const pieces = cut(text, step.chunks)
      const open = openReply()
      open.text += text
      if (text !== '') {
        const deltas = pieces.map(piece => ({ type: 'text_delta', text: piece }))
        await block({ type: 'text', text: '' }, deltas, textBlock(text), async index => {
          if (step.hangAfterChunks !== undefined && index + 1 >= step.hangAfterChunks) await pause(undefined, stage.interrupt.signal)
          if (step.chunkMs !== undefined) await pause(step.chunkMs, stage.interrupt.signal)
        })
        session.append({ type: 'assistant', message: { role: 'assistant', content: [textBlock(text)] } })
      }
      if (!more) closeReply('end_turn')
    },
    tool: async (name, input, parent, run) => {
      init()
      const call: ToolCall = { id: `call_${calls}_0_${randomUUID().slice(0, 6)}`, name, input }
      calls += 1
      if (parent === null) {
        const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
        await block({ type: 'tool_use', id: call.id, name, input: {} }, [delta], toolBlock(call), () => Promise.resolve())
        closeReply('tool_use')
      } else {
        sink.emit(assistantRecord(`msg_${randomUUID()}`, model, toolBlock(call), parent))
      }
      const outcome = await interruptible(run(call), stage.interrupt.signal).catch((error: unknown) => {
        if (error instanceof Interrupted) takeResult(call, INTERRUPTED_TOOL, parent)
        throw error
      })
      takeResult(call, outcome, parent)
      if (parent === null) checkLimits()
      return outcome
    },
    synthetic: (text, error) => {
      init()
      sink.emit(syntheticRecord(randomUUID(), text, error))
    },
  }
}

function cut(text: string, chunks: number | undefined): string[] {
  const characters = Array.from(text)
  const size = chunks === undefined ? CHUNK_CHARACTERS : Math.max(1, Math.ceil(characters.length / chunks))
  const pieces: string[] = []
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(''))
  return pieces
}

/** The trailing block that the product asks its children for. */
function withReport(text: string, report: ReportBlock | undefined): string {
  if (report === undefined) return text
  const lines = [
    `Summary: ${report.summary ?? 'done'}`,
    'Files:',
    ...(report.files ?? ['none']).map(file => `- ${file}`),
    `Verification: ${report.verification ?? 'none'}`,
    `Unfinished: ${report.unfinished ?? 'nothing'}`,
  ]
  return `${text}\n\n## Report\n${lines.join('\n')}`
}
