/**
 * OpenClaude as the model behind the advisor: print mode, one turn, no tools, no session, in an empty folder, so that it can only answer.
 * Owns its time limit, its size limit and the repeats after a failed transport; does not know what is asked.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findJsonObjects } from '../core/json-objects.ts'
import { OpenClaudeError } from '../errors.ts'
import type { AdvisorModel, PlainChildResult, RunPlain } from './ports.ts'

export interface OpenClaudeModelDeps {
  readonly runPlain: RunPlain
  /** The program and its first arguments. */
  readonly command: readonly string[]
  /** Provider and model flags, `--settings` for an override that must win; may be empty. */
  readonly modelArgs: readonly string[]
  /** The complete environment of the child. */
  readonly env: Readonly<Record<string, string>>
  /** For one question, repeats included. */
  readonly timeoutMs: number
  readonly killGraceMs: number
  readonly markerName: string
  /** Waits before the repeats after a failed transport, in order; default 2 s and 8 s. */
  readonly backoffMs?: readonly number[]
}

/** Output beyond this is no answer; the envelope repeats the text once. */
const MAX_ANSWER_BYTES = 1024 * 1024

const PRINT_ARGS = ['--print', '--output-format', 'json', '--tools', '', '--max-turns', '1', '--no-session-persistence']

type Asked =
  | { readonly kind: 'answer', readonly text: string }
  /** `repeat`: asking again can help. */
  | { readonly kind: 'failed', readonly reason: string, readonly repeat: boolean }

export function createOpenClaudeModel(deps: OpenClaudeModelDeps): AdvisorModel {
  const waits = deps.backoffMs ?? [2000, 8000]
  return {
    name: 'openclaude',
    ask: async (prompt, { signal }) => {
      const deadline = performance.now() + deps.timeoutMs
      for (let tries = 0; ; tries += 1) {
        const asked = await askOnce(deps, prompt, Math.max(1, deadline - performance.now()), signal)
        signal.throwIfAborted()
        if (asked.kind === 'answer') return asked.text
        const wait = waits[tries]
        if (!asked.repeat || wait === undefined || performance.now() + wait >= deadline) {
          throw new OpenClaudeError('OC_ADVISOR_FAILED', asked.reason, {
            subject: 'advisor', fix: 'Run `dsh-openclaude doctor --live`, or set supervisor to none.',
          })
        }
        await delay(wait, undefined, { signal })
      }
    },
  }
}

async function askOnce(deps: OpenClaudeModelDeps, prompt: string, timeoutMs: number, signal: AbortSignal): Promise<Asked> {
  const folder = await mkdtemp(join(tmpdir(), 'dsh-openclaude-advisor-'))
  try {
    return readResult(await deps.runPlain({
      command: { argv: [...deps.command, ...PRINT_ARGS, ...deps.modelArgs] },
      cwd: folder,
      env: deps.env,
      timeoutMs,
      logFile: null,
      maxBytes: 0,
      tailBytes: MAX_ANSWER_BYTES,
      marker: { name: deps.markerName, value: randomUUID() },
      workspaceRoot: folder,
      killGraceMs: deps.killGraceMs,
      input: prompt,
      signal,
    }), timeoutMs)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** An answer needs an envelope that says success, exit 0 and a text; an empty one is an answer that can't be read. A reason carries only the envelope's text. */
function readResult(result: PlainChildResult, timeoutMs: number): Asked {
  const failed = (reason: string, repeat: boolean): Asked => ({ kind: 'failed', reason, repeat })
  if (result.spawnError !== null) return failed(`OpenClaude could not be started: ${result.spawnError.message}`, false)
  if (result.timedOut) return failed(`OpenClaude did not answer within ${Math.round(timeoutMs)} ms`, false)
  if (result.bytes > MAX_ANSWER_BYTES) return failed(`OpenClaude's answer is longer than ${MAX_ANSWER_BYTES} bytes`, false)
  const envelope = findJsonObjects(result.tail).findLast(object => object['type'] === 'result')
  const exit = result.exitCode === null ? `signal ${result.signal ?? 'unknown'}` : `exit ${result.exitCode}`
  if (envelope === undefined) return failed(`OpenClaude ended with ${exit} and without a result`, true)
  const { subtype, is_error: isError, result: text } = envelope
  if (isError !== false || subtype !== 'success' || result.exitCode !== 0) {
    return failed(`OpenClaude ended with ${exit}, ${String(subtype)}: ${typeof text === 'string' ? text.slice(0, 300) : 'no text'}`, true)
  }
  if (typeof text !== 'string') return failed('OpenClaude answered with no text', true)
  return { kind: 'answer', text }
}
