/**
 * One launch of the simulated OpenClaude, from its arguments to its exit code. Stands for another program: it shares no code with the product.
 * Owns the order of start-up (flags, refusals, prompt, rule, session) and the reaction to signals.
 */
import { appendFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Flags } from './command-line.ts'
import { parseCommandLine } from './command-line.ts'
import { createConversation } from './conversation.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { SimHost } from './host.ts'
import { createLedger } from './ledger.ts'
import { perform, turnsOf } from './performance.ts'
import { createPlayer } from './play.ts'
import { chooseSession, NO_PROMPT, refusal, resolveModel } from './preconditions.ts'
import { readPrompt } from './prompt.ts'
import { connectRemote } from './remote.ts'
import { refusedResumeRecord } from './records.ts'
import type { Step } from './scenario.ts'
import type { ChosenPlay, LaunchFacts, SimEnv } from './scenario-source.ts'
import { choosePlay, filler, fillStep, loadScenario } from './scenario-source.ts'
import { openSession, projectDir, readHistory, readTotals } from './session-store.ts'
import { createSink } from './sink.ts'
import type { Stage } from './stage.ts'
import { newLiveState } from './stage.ts'
import { createTools } from './tools.ts'

const SOCKET_LOST = 70

/** `argv` without the program. Resolves with the exit code once everything was written; a play may also end the process itself. */
export async function runSimulator(argv: readonly string[], env: SimEnv, host: SimHost): Promise<number> {
  const parsed = parseCommandLine(argv, { stdout: text => host.stdout.write(text), stderr: text => host.stderr.write(text) })
  if (parsed.kind === 'ended') return parsed.code
  const { flags } = parsed
  const refuse = (message: string): number => {
    host.stderr.write(`${message}\n`)
    return 1
  }
  const refused = refusal(flags, env, host.getuid?.() ?? -1)
  if (refused !== null) return refuse(refused)
  const prompt = await readPrompt(flags.prompt, host)
  if (prompt === null) return refuse(NO_PROMPT)
  return launch({ argv, env, host, flags, prompt, refuse })
}

interface Launch {
  readonly argv: readonly string[]
  readonly env: SimEnv
  readonly host: SimHost
  readonly flags: Flags
  readonly prompt: string
  readonly refuse: (message: string) => number
}

async function launch({ argv, env, host, flags, prompt, refuse }: Launch): Promise<number> {
  const cwd = host.cwd()
  const folder = projectDir(env, cwd)
  const loaded = loadScenario(env)
  const likely = chooseSession(flags, folder, {})
  const resumed = flags.resume !== undefined || likely.kind === 'resume'
  const facts: LaunchFacts = { prompt, argv, env, launch: resumed ? 'resume' : 'fresh', history: likely.kind === 'resume' ? readHistory(folder, likely.from) : '' }
  const play = choosePlay(loaded, facts)
  if (play.setup.startDelayMs !== undefined) await new Promise(done => setTimeout(done, play.setup.startDelayMs))
  const session = chooseSession(flags, folder, play.setup)
  noteLaunch(loaded.stateDir, { pid: host.pid, argv, cwd, prompt, rule: play.rule, use: play.use, launch: facts.launch, session: session.kind === 'refused' ? null : session.id })
  if (session.kind === 'refused') {
    if (!resumed || flags.outputFormat !== 'stream-json') return refuse(session.message)
    host.stdout.write(`${JSON.stringify(refusedResumeRecord(session.message))}\n`)
    return 1
  }
  const forkHistory = session.kind === 'resume' && session.id !== session.from ? facts.history : ''
  const stage = createStage({ flags, env, host, cwd, folder, sessionId: session.id, resumedFrom: session.kind === 'resume' ? session.from : null, forkHistory, play })
  stage.session.append({ type: 'user', cwd, timestamp: new Date().toISOString(), message: { role: 'user', content: prompt } })
  return playOn({ stage, host, play, facts })
}

/** One line per launch beside the counters, so that a test can tell what was started and how. */
function noteLaunch(stateDir: string | null, note: Readonly<Record<string, unknown>>): void {
  if (stateDir === null) return
  mkdirSync(stateDir, { recursive: true })
  appendFileSync(join(stateDir, 'launches.ndjson'), `${JSON.stringify(note)}\n`)
}

interface StageFacts extends Pick<Launch, 'flags' | 'env' | 'host'> {
  readonly cwd: string
  readonly folder: string
  readonly sessionId: string
  readonly resumedFrom: string | null
  readonly forkHistory: string
  readonly play: ChosenPlay
}

function createStage(facts: StageFacts): Stage {
  const { flags, env, host, cwd, folder, sessionId, play } = facts
  const model = play.setup.model ?? resolveModel(flags, env)
  const live = newLiveState(play.setup.ignoreSignals ?? [])
  const sink = createSink({ flags, sessionId, stdout: host.stdout, stderr: host.stderr })
  const scaled = env['OPENCLAUDE_SIM_HEARTBEAT_MS']
  const wanted = flags.heartbeatMs === undefined || play.setup.heartbeat === 'off' ? null : scaled === undefined ? flags.heartbeatMs : Number(scaled)
  const heartbeat = startHeartbeat({
    intervalMs: wanted,
    sessionId,
    look: () => ({ state: live.state, phase: live.phase, pendingPermissions: live.pendingPermissions, backgroundTasks: countTasks(live.background.length) }),
    onRecords: () => sink.streams && live.initSent,
    emit: sink.emit,
    stderr: line => host.stderr.write(line),
  })
  sink.onActivity(heartbeat.activity)
  const before = facts.resumedFrom === null ? { costUsd: 0, inputTokens: 0, outputTokens: 0 } : readTotals(folder, facts.resumedFrom)
  return {
    flags,
    env,
    cwd,
    pid: host.pid,
    sessionId,
    model,
    setup: play.setup,
    sink,
    session: openSession(folder, sessionId, { stored: flags.sessionPersistence, history: facts.forkHistory }),
    heartbeat,
    ledger: createLedger({ model, setup: play.setup, before }),
    interrupt: new AbortController(),
    live,
    taskDir: join(tmpdir(), `openclaude-sim-${host.getuid?.() ?? 0}`, cwd.replaceAll(/[^A-Za-z0-9]/gu, '-'), sessionId, 'tasks'),
    toolStarted: () => undefined,
  }
}

function countTasks(count: number): Readonly<Record<string, number>> {
  return count === 0 ? {} : { local_bash: count }
}

interface Staged {
  readonly stage: Stage
  readonly host: SimHost
  readonly play: ChosenPlay
  readonly facts: LaunchFacts
}

async function playOn({ stage, host, play, facts }: Staged): Promise<number> {
  const talk = createConversation(stage)
  const player = createPlayer({ stage, talk, tools: createTools(stage, talk), leave: how => leave(host, how) })
  const fill = (step: Step): Step => fillStep(step, filler(facts, play, { cwd: stage.cwd, session: stage.sessionId }))
  answerSignals(stage, host)
  const slash = /^\/([A-Za-z][\w:-]*)(?:\s|$)/u.exec(facts.prompt)
  if (slash !== null) return perform(stage, talk, async () => talk.finishTurn({ kind: 'local', text: `Unknown skill: ${slash[1] ?? ''}` }, {}))
  const socket = facts.env['OPENCLAUDE_SIM_SOCKET'] ?? ''
  if (socket === '') return perform(stage, talk, turnsOf(play.steps.map(fill), stage, player))
  const { argv, prompt, env } = facts
  const hello = { pid: stage.pid, argv, cwd: stage.cwd, prompt, launch: facts.launch, sessionId: stage.sessionId }
  const remote = await connectRemote(socket, hello, env, () => host.exit(SOCKET_LOST))
  const code = await perform(stage, talk, () => remote.playTurn(stage, player, fill))
  remote.close()
  return code
}

function leave(host: SimHost, how: { readonly code: number } | { readonly signal: string }): void {
  if ('code' in how) return host.exit(how.code)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) host.removeAllListeners(signal)
  host.kill(host.pid, how.signal)
}

const EXIT_CODE_OF = { SIGTERM: 143, SIGHUP: 129 } as const

/** SIGTERM and SIGHUP end at once and leave the Bash tree alone; SIGINT ends the turn and the tree with it (measured). */
function answerSignals(stage: Stage, host: SimHost): void {
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    host.on(signal, () => {
      if (!stage.live.ignored.has(signal)) host.exit(EXIT_CODE_OF[signal])
    })
  }
  host.on('SIGINT', () => {
    if (stage.live.ignored.has('SIGINT')) return
    stage.live.openShell?.kill()
    stage.interrupt.abort()
  })
}
