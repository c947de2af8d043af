/** The tools that really do something: files, Bash, and the process that outlives its call. Each returns what the model would see. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import type { Conversation } from './conversation.ts'
import { interruptible, pause } from './pause.ts'
import { permissionFor } from './permissions.ts'
import type { JsonRecord, ToolCall, ToolOutcome } from './records.ts'
import { taskStartedRecord, toolProgressRecord } from './records.ts'
import type { Step } from './scenario.ts'
import { startShell } from './shell.ts'
import type { Stage } from './stage.ts'

type StepOf<Name extends Step['do']> = Extract<Step, { readonly do: Name }>

const DEFAULT_BASH_TIMEOUT_MS = 120_000
const PROGRESS_AFTER_MS = 3000
const PROGRESS_EVERY_MS = 30_000
const PROGRESS_RATIO = 10

export interface Tools {
  readonly write: (step: StepOf<'write'>, parent: string | null) => Promise<void>
  readonly edit: (step: StepOf<'edit'>, parent: string | null) => Promise<void>
  readonly read: (step: StepOf<'read'>, parent: string | null) => Promise<void>
  readonly bash: (step: StepOf<'bash'>, parent: string | null) => Promise<void>
  readonly pretend: (step: StepOf<'tool'>, parent: string | null) => Promise<void>
  readonly denied: (step: StepOf<'denied'>, parent: string | null) => Promise<void>
}

export function createTools(stage: Stage, talk: Conversation): Tools {
  const guarded = async (name: string, input: JsonRecord, parent: string | null, run: (call: ToolCall) => Promise<ToolOutcome>): Promise<void> => {
    await talk.tool(name, input, parent, call => {
      const permission = permissionFor(stage.flags, name, input)
      if (permission === 'allow') return run(call)
      if (permission === 'deny') stage.ledger.deny(denial(call))
      const why = permission === 'no-such-tool' ? `Error: No such tool available: ${name}` : notGranted(name)
      return Promise.resolve({ content: why, isError: true })
    })
  }
  const place = (path: string): string => resolve(stage.cwd, path)
  return {
    write: (step, parent) => guarded('Write', { file_path: place(step.path), content: step.content }, parent, async () => {
      stage.toolStarted(0)
      return writeTool(place(step.path), step.content)
    }),
    edit: (step, parent) => {
      const input = { file_path: place(step.path), old_string: step.find, new_string: step.replace, ...step.all === true ? { replace_all: true } : {} }
      return guarded('Edit', input, parent, async () => editTool(place(step.path), step))
    },
    read: (step, parent) => guarded('Read', { file_path: place(step.path) }, parent, async () => readTool(place(step.path))),
    bash: (step, parent) => {
      const limits = { ...step.timeoutMs === undefined ? {} : { timeout: step.timeoutMs }, ...step.background === true ? { run_in_background: true } : {} }
      const input = { command: step.command, description: step.description ?? 'run a command', ...limits }
      return guarded('Bash', input, parent, call => bashTool(stage, step, call))
    },
    pretend: async (step, parent) => {
      await talk.tool(step.name, step.input ?? {}, parent, async () => {
        stage.toolStarted(0)
        if (step.hang === true) await pause(undefined, stage.interrupt.signal)
        await pause(step.ms ?? 0, stage.interrupt.signal)
        return { content: step.output ?? '', isError: step.isError === true }
      })
    },
    denied: async (step, parent) => {
      await talk.tool(step.tool, step.input ?? {}, parent, async call => {
        stage.ledger.deny(denial(call))
        return { content: notGranted(step.tool), isError: true }
      })
    },
  }
}

function denial(call: ToolCall): JsonRecord {
  return { tool_name: call.name, tool_use_id: call.id, tool_input: call.input }
}

function notGranted(tool: string): string {
  return `Claude requested permissions to use ${tool}, but you haven't granted it yet.`
}

function writeTool(path: string, content: string): ToolOutcome {
  const existed = existsSync(path)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  const message = existed ? `The file ${path} has been updated successfully.` : `File created successfully at: ${path}`
  return { content: message, isError: false, detail: { type: existed ? 'update' : 'create', filePath: path, content } }
}

function editTool(path: string, step: StepOf<'edit'>): ToolOutcome {
  if (!existsSync(path)) return { content: '<tool_use_error>File does not exist.</tool_use_error>', isError: true }
  const before = readFileSync(path, 'utf8')
  if (!before.includes(step.find)) return { content: `<tool_use_error>String to replace not found in file.\nString: ${step.find}</tool_use_error>`, isError: true }
  writeFileSync(path, step.all === true ? before.replaceAll(step.find, () => step.replace) : before.replace(step.find, () => step.replace))
  return { content: `The file ${path} has been updated successfully.`, isError: false, detail: { filePath: path, oldString: step.find, newString: step.replace } }
}

function readTool(path: string): ToolOutcome {
  if (!existsSync(path)) return { content: '<tool_use_error>File does not exist.</tool_use_error>', isError: true }
  const lines = readFileSync(path, 'utf8').split('\n').map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
  return { content: lines.join('\n'), isError: false }
}

async function bashTool(stage: Stage, step: StepOf<'bash'>, call: ToolCall): Promise<ToolOutcome> {
  const taskId = `b${randomUUID().slice(0, 8)}`
  const outputFile = join(stage.taskDir, `${taskId}.output`)
  const shell = startShell(step.command, { cwd: stage.cwd, env: stage.env, outputFile })
  const toBackground = (): ToolOutcome => {
    stage.live.background.push({ id: taskId, toolUseId: call.id, description: step.description ?? 'run a command', outputFile, shell })
    stage.sink.emit(taskStartedRecord({ id: taskId, toolUseId: call.id, description: step.description ?? 'run a command', type: 'local_bash' }))
    const content = `Command running in background with ID: ${taskId}. Output is being written to: ${outputFile}`
    return { content, isError: false, detail: { stdout: '', stderr: '', interrupted: false, backgroundTaskId: taskId } }
  }
  stage.toolStarted(shell.pid)
  const mayMove = (stage.env['CLAUDE_CODE_DISABLE_BACKGROUND_TASKS'] ?? '') === ''
  if (step.background === true && mayMove) return toBackground()
  stage.live.openShell = shell
  const limitMs = step.timeoutMs ?? Number(stage.env['BASH_DEFAULT_TIMEOUT_MS'] ?? DEFAULT_BASH_TIMEOUT_MS)
  const stopProgress = reportProgress(stage, call, taskId)
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<'timed-out'>(done => {
    timer = setTimeout(done, limitMs, 'timed-out')
  })
  try {
    const end = await interruptible(Promise.race([shell.ended, timedOut]), stage.interrupt.signal)
    if (end !== 'timed-out') return bashOutcome(end.code, end.output)
    if (mayMove) return toBackground()
    shell.kill()
    return { content: `Exit code 143\nCommand timed out after ${limitMs / 1000}s`, isError: true }
  } finally {
    clearTimeout(timer)
    stopProgress()
    if (!stage.interrupt.signal.aborted) stage.live.openShell = null
  }
}

function bashOutcome(code: number, raw: string): ToolOutcome {
  const output = raw.trimEnd()
  const detail = { stdout: output, stderr: '', interrupted: false, isAbort: false, isImage: false, noOutputExpected: false }
  if (code === 0) return { content: output === '' ? '(Bash completed with no output)' : output, isError: false, detail }
  return { content: `Exit code ${code}\n${output}`.trimEnd(), isError: true, detail }
}

/** tool_progress records, which the real program sends only with CLAUDE_CODE_CONTAINER_ID. OPENCLAUDE_SIM_TOOL_PROGRESS_MS replaces the first wait; the later ones are ten times as long. */
function reportProgress(stage: Stage, call: ToolCall, taskId: string): () => void {
  if ((stage.env['CLAUDE_CODE_CONTAINER_ID'] ?? '') === '') return () => undefined
  const scaled = stage.env['OPENCLAUDE_SIM_TOOL_PROGRESS_MS']
  const first = scaled === undefined ? PROGRESS_AFTER_MS : Number(scaled)
  const every = scaled === undefined ? PROGRESS_EVERY_MS : PROGRESS_RATIO * Number(scaled)
  let seconds = PROGRESS_AFTER_MS / 1000
  let timer = setTimeout(function report() {
    stage.sink.emit(toolProgressRecord(call, seconds, taskId))
    seconds += PROGRESS_EVERY_MS / 1000
    timer = setTimeout(report, every)
  }, first)
  return () => clearTimeout(timer)
}
