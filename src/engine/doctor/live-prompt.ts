/** One real prompt in exactly the environment of a child (`doctor --live`, R-9): must come back as a success that names its model. */
import { randomUUID } from 'node:crypto'
import type { ResolvedConfig } from '../../core/config-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import { MARKER_NAME } from '../../executor/process/child-env.ts'
import { findExecutable } from '../../executor/process/find-executable.ts'
import { readJsonOutput } from '../../executor/stream/json-output.ts'
import { openclaudeFlags } from '../../executor/openclaude/argv.ts'
import { runPlain } from '../../executor/plain/child.ts'

const TIMEOUT_MS = 180_000
const OUTPUT_BYTES = 1 << 20

export interface LiveAnswer {
  readonly model: string | null
  readonly durationMs: number
}

/** @throws OC_CHILD_VERSION with what the child said instead. */
export async function askLive(config: ResolvedConfig, env: Readonly<Record<string, string>>, redact: (text: string) => string): Promise<LiveAnswer> {
  const cwd = config.workdir
  const { argv } = findExecutable(config.executable, { env, cwd })
  const flags = openclaudeFlags({ ...config, maxTurns: 1, heartbeat: '', noSessionPersistence: true, appendSystemPrompt: '' }, { mode: 'fresh', sessionId: randomUUID() })
  const result = await runPlain({
    command: { argv: [...argv, ...flags] },
    cwd, env,
    timeoutMs: TIMEOUT_MS, logFile: null, maxBytes: OUTPUT_BYTES, tailBytes: OUTPUT_BYTES,
    marker: { name: MARKER_NAME, value: randomUUID() },
    workspaceRoot: cwd,
    input: 'Answer with the single word: ready\n',
  })
  const output = readJsonOutput(result.tail)
  const last = output.kind === 'envelope' ? output.records.findLast(record => record.kind === 'result') : undefined
  if (last !== undefined && result.exitCode === 0 && last.result.subtype === 'success' && !last.result.isError) {
    return { model: last.model, durationMs: result.durationMs }
  }
  const text = redact(last === undefined ? result.tail : [last.result.text, ...last.result.errors].join(' ')).slice(-600).trim()
  const turns = last?.result.subtype === 'error_max_turns'
    ? ' It called a tool instead of answering, so the limit of one turn was reached: the connection works.' : ''
  throw new OpenClaudeError('OC_CHILD_VERSION', `OpenClaude did not answer (exit ${result.exitCode ?? result.signal ?? 'none'}): ${text || '(no output)'}.${turns}`, {
    subject: 'live prompt', fix: 'Run the same program by hand with --print and repair what it says; provider and key belong in OpenClaude\'s own configuration.',
  })
}
