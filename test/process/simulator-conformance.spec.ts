/** Replays the recorded runs of the real command line through the simulator and compares everything a reader depends on. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scenario, Step } from '../../src/simulator/scenario.ts'
import { PLAYS_BY_MODEL } from '../support/recorded-plays.ts'
import { projectStderr, projectStdout } from '../support/record-projection.ts'
import { SIM_COMMAND } from '../support/sim-rig.ts'
import type { SimRun, SimRunRequest } from '../support/sim-in-process.ts'
import { runSimInProcess } from '../support/sim-in-process.ts'
import type { RecordedRun } from '../support/transcripts.ts'
import { readRecordedRun, recordedRunNames } from '../support/transcripts.ts'

/** Recorded, not played: the reason is the documentation of the difference. */
const NOT_PLAYED: Readonly<Record<string, string>> = {
  'flag-json-schema': 'structured output is not simulated',
  'flag-json-schema-bad': 'structured output is not simulated',
  'so-ok': 'structured output is not simulated',
  'so-bad-then-ok': 'structured output is not simulated',
  'so-refused-maxturns': 'structured output is not simulated',
  'stream-input-two-turns': 'prompts as stream-json on stdin are not simulated',
  'stream-input-interrupt': 'prompts as stream-json on stdin are not simulated',
  'stdin-slash-help': 'only the answer to an unknown slash command is simulated',
  'no-credentials': 'the simulator asks no provider and needs no login',
}

interface Special {
  /** Other steps than the model's, since the environment of the case decided. */
  readonly play?: readonly Step[]
  /** The run is ended by this signal once its output holds the text. */
  readonly signal?: { readonly name: NodeJS.Signals, readonly after: RegExp | 'session-stored' }
  /** A file `go` appears in the working directory once the output holds the text. */
  readonly go?: RegExp
  /** Beats are not compared: where they fall between two other timers depends on the machine. */
  readonly withoutBeats?: true
  /** Runs before it, in the same home. */
  readonly after?: readonly string[]
  /** Working directory below the project. */
  readonly cwd?: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** stdin stays open. */
  readonly stdinOpen?: true
}

const BEAT = /heartbeat/u
const transport = 'API Error: OpenAI API transport error: fetch failed (code=UND_ERR_SOCKET) Hint: Network transport failed before a provider response was received.'
const error = (text: string, code = 'unknown'): readonly Step[] => [{ do: 'api-error', text, error: code }]
const beatThenTimeout: readonly Step[] = [{ do: 'init' }, { do: 'hang', ms: 300 }, { do: 'api-error', text: 'Request timed out', error: 'unknown' }]
const session1 = ['session-1-new']

const SPECIAL: Readonly<Record<string, Special>> = {
  'api-drop-mid-both': { play: error(transport) },
  'api-refused': {
    play: error('Could not connect to the local OpenAI-compatible provider. Ensure the local server is running, then use OPENAI_BASE_URL=http://127.0.0.1:PORT/v1 for Ollama.'),
  },
  'api-no-done': {
    play: [
      { do: 'text', text: 'A reply whose stream ends without the done marker.' },
      { do: 'result', costUsd: 0, fields: { usage: { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0 } } },
    ],
  },
  'bash-echo': { env: { IS_SANDBOX: '' } },
  'flag-tools-none': { play: [{ do: 'text', text: 'ok' }] },
  'flag-stdin-open': { stdinOpen: true },
  'flag-stdin-open-noarg': { stdinOpen: true, signal: { name: 'SIGKILL', after: /^/u } },
  'hb-429-stream': {
    play: [
      { do: 'api-retry', delaysMs: Array.from({ length: 10 }, () => 1), status: 429, error: 'rate_limit' },
      ...error('API Error: 429 {"error":{"message":"mock answered 429","type":"rate_limit_error","code":"rate_limit_error"}}'),
    ],
  },
  'hb-500-stream': {
    play: [{ do: 'api-retry', delaysMs: [1, 1, 1, 1, 350, 350, 60_000] }],
    signal: { name: 'SIGTERM', after: /"attempt":7[^]*heartbeat/u },
  },
  'hb-500-json': { play: [{ do: 'init' }, { do: 'api-retry', delaysMs: [60_000] }], signal: { name: 'SIGTERM', after: BEAT } },
  'hb-agent-hang-json': { signal: { name: 'SIGTERM', after: BEAT } },
  'hb-agent-hang-stream': { signal: { name: 'SIGTERM', after: BEAT } },
  'hb-api-timeout8s-json': { play: beatThenTimeout },
  'hb-hang-stream-idle8s-api8s': { play: beatThenTimeout },
  'hb-bash-long-json': { play: [{ do: 'tool', name: 'Bash', ms: 250 }, { do: 'text', text: 'The long command ended.' }] },
  'hb-background-bash-json': { signal: { name: 'SIGKILL', after: /waiting_for_agents/u } },
  'hb-background-bash-stream': { signal: { name: 'SIGKILL', after: /(?:"type":"result"[^]*){4}/u } },
  'hb-hang-headers-json': { signal: { name: 'SIGTERM', after: BEAT } },
  'hb-hang-headers-stream': { signal: { name: 'SIGTERM', after: BEAT } },
  'hb-hang-mid-idle12s-json': { signal: { name: 'SIGKILL', after: BEAT } },
  'hb-hang-ping-idle8s-json': { signal: { name: 'SIGKILL', after: BEAT } },
  'hb-hang-stream-idle12s-json': { signal: { name: 'SIGKILL', after: BEAT } },
  'hb-slow-stream-partial': {
    play: [{ do: 'text', text: 'a slow stream '.repeat(20), chunks: 35, chunkMs: 30 }],
    env: { OPENCLAUDE_SIM_HEARTBEAT_MS: '500' },
  },
  'hb-tool-progress-env': {
    go: /bash-progress-60/u,
    withoutBeats: true,
  },
  'hb-permission-wait': { stdin: 'write it' },
  'hb-permission-then-tool': { stdin: 'do it' },
  'bash-tool-timeout': { signal: { name: 'SIGKILL', after: /"type":"result"/u } },
  'bash-tool-timeout-json': { signal: { name: 'SIGKILL', after: /in_turn[^]*waiting_for_agents[^]*in_turn[^]*waiting_for_agents/u } },
  'kill-early': { signal: { name: 'SIGKILL', after: 'session-stored' } },
  'kill-early-resume': { after: ['kill-early'] },
  'kill-sigint': { signal: { name: 'SIGINT', after: BEAT } },
  'kill-sigint-resume': { after: ['kill-sigint'] },
  'kill-sigkill': { signal: { name: 'SIGKILL', after: BEAT } },
  'kill-sigkill-resume': { after: ['kill-sigkill'] },
  'kill-sigterm': { signal: { name: 'SIGTERM', after: BEAT } },
  'kill-sigterm-resume': { after: ['kill-sigterm'] },
  'sighup-while-model-hangs': { signal: { name: 'SIGHUP', after: /init/u } },
  'sigint-while-model-hangs': { signal: { name: 'SIGINT', after: /init/u } },
  'resume-after-max-turns-2': { after: ['resume-after-max-turns-1'] },
  'resume-live-second': { after: ['resume-live-first'] },
  'session-2-reuse-id': { after: session1 },
  'session-3-resume': { after: session1 },
  'session-4-fork': { after: session1 },
  'session-5-fork-with-id': { after: session1 },
  'session-6-continue': { after: session1 },
  'session-7-resume-other-cwd': { after: session1, cwd: 'below' },
  'session-9-resume-nopersist': { after: ['session-8-nopersist'] },
  'session-10-resume-with-nopersist-flag': { after: session1 },
}

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'sim-conformance-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('the simulator answers as the recorded OpenClaude 0.29.1 did', () => {
  const played = recordedRunNames().filter(name => !(name in NOT_PLAYED))
  test('the list of what is not played names recorded cases only', () => {
    expect(Object.keys({ ...NOT_PLAYED, ...SPECIAL }).filter(name => !recordedRunNames().includes(name))).toEqual([])
  })
  test.concurrent.each(played)('%s', async name => {
    const place = join(root, name)
    for (const earlier of SPECIAL[name]?.after ?? []) await replay(earlier, place)
    const recorded = readRecordedRun(name)
    const run = await replay(name, place)
    const beats = SPECIAL[name]?.withoutBeats !== true
    expect(comparable(run, beats)).toEqual(comparable(recorded, beats))
    expect(sessionEcho(recorded, run)).toBe('as asked')
  })
})

function comparable(run: SimRun | RecordedRun, beats: boolean): unknown {
  const stdout = projectStdout(run.stdout)
  return {
    code: run.code,
    signal: run.signal,
    stdout: typeof stdout === 'string' ? stdout : {
      records: stdout.records.filter(record => beats || record['subtype'] !== 'heartbeat'),
      sessions: stdout.sessions,
    },
    stderr: projectStderr(run.stderr),
  }
}

/** The id that was asked for is the id of every record. */
function sessionEcho(recorded: RecordedRun, run: SimRun): string {
  const projected = projectStdout(run.stdout)
  const seen = typeof projected === 'string' ? null : projected.firstSession
  const args = recorded.args.flatMap(arg => arg.split('='))
  const at = args.indexOf('--session-id') >= 0 ? args.indexOf('--session-id') : args.includes('--fork-session') ? -1 : args.indexOf('--resume')
  return at < 0 || seen === null || seen === args[at + 1] ? 'as asked' : `asked for ${args[at + 1] ?? ''}, got ${seen}`
}

async function replay(name: string, place: string): Promise<SimRun> {
  const recorded = readRecordedRun(name)
  const special = SPECIAL[name] ?? {}
  const cwd = join(place, 'project', special.cwd ?? '')
  mkdirSync(cwd, { recursive: true })
  const env = { ...baseEnv(place, recorded), OPENCLAUDE_SIM_SCENARIO: scenarioFile(place, name, special.play ?? playFor(recorded)) }
  const request = { args: recorded.args, env, cwd, stdin: special.stdin ?? recorded.stdin }
  return special.signal === undefined && special.go === undefined && special.stdinOpen === undefined ? runSimInProcess(request) : runProcess(request, special)
}

function baseEnv(place: string, recorded: RecordedRun): Record<string, string> {
  const kept = { PATH: process.env['PATH'] ?? '', TMPDIR: join(place, 'tmp'), HOME: join(place, 'home') }
  mkdirSync(kept.TMPDIR, { recursive: true })
  return { ...kept, IS_SANDBOX: '1', OPENAI_MODEL: recorded.model, OPENCLAUDE_SIM_HEARTBEAT_MS: BEAT.test(recorded.stdout + recorded.stderr) ? '100' : '60000', OPENCLAUDE_SIM_TOOL_PROGRESS_MS: '50', ...recorded.env, ...SPECIAL[recorded.name]?.env }
}

/** --model and --settings choose another mock model than the environment. */
function playFor(recorded: RecordedRun): readonly Step[] {
  const chosen = recorded.args.includes('mock-bash-echo') || recorded.args.some(arg => arg.includes('"OPENAI_MODEL":"mock-bash-echo"')) ? 'mock-bash-echo' : recorded.model
  return PLAYS_BY_MODEL[chosen] ?? []
}

function scenarioFile(place: string, name: string, play: readonly Step[]): string {
  const path = join(place, `${name}.json`)
  const scenario: Scenario = { rules: [{ play }] }
  writeFileSync(path, JSON.stringify(scenario))
  return path
}

function sessionStored(request: SimRunRequest): boolean {
  const projects = join(request.env['HOME'] ?? '', '.openclaude', 'projects')
  return existsSync(projects) && readdirSync(projects, { recursive: true }).some(name => String(name).endsWith('.jsonl'))
}

function runProcess(request: SimRunRequest, special: Special): Promise<SimRun> {
  const [program = '', ...first] = SIM_COMMAND
  const child = spawn(program, [...first, ...request.args], { cwd: request.cwd, env: request.env, stdio: 'pipe' })
  const output = { stdout: '', stderr: '' }
  return new Promise(resolve => {
    let sent = false
    const isTime = (after: RegExp | 'session-stored'): boolean => {
      return after === 'session-stored' ? sessionStored(request) : after.test(output.stdout + output.stderr)
    }
    const look = (): void => {
      if (special.go?.test(output.stdout) === true) writeFileSync(join(request.cwd, 'go'), '')
      if (sent || special.signal === undefined || !isTime(special.signal.after)) return
      sent = true
      child.kill(special.signal.name)
    }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        output[stream] += text
        look()
      })
    }
    child.on('spawn', look)
    const poll = setInterval(look, 20)
    child.on('close', (code, signal) => {
      clearInterval(poll)
      resolve({ code, signal, ...output })
    })
    child.stdin.on('error', () => undefined)
    child.stdin.write(request.stdin)
    if (special.stdinOpen === undefined) child.stdin.end()
  })
}
