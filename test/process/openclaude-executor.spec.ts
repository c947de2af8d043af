import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { newLaunches } from '../../src/core/launches.ts'
import { newOpenClaudeRig, type OpenClaudeRig, type OpenClaudeRigOptions } from '../support/openclaude-rig.ts'
import { until } from '../support/processes.ts'

const rigs: OpenClaudeRig[] = []
afterAll(() => {
  for (const rig of rigs.splice(0)) {
    for (const pid of rig.left()) process.kill(pid, 'SIGKILL')
    rig.attempt.remove()
  }
})
const newRig = (options: OpenClaudeRigOptions): OpenClaudeRig => {
  const rig = newOpenClaudeRig(options)
  rigs.push(rig)
  return rig
}
const intended = (rig: OpenClaudeRig): unknown[] => rig.attempt.of('launch-intended').map(fact => [fact.launch, fact.mode, fact.reason])

describe.concurrent('executor "openclaude"', () => {
  it('does a task in one launch and reports each step (R-63, R-73, R-74, R-75)', async () => {
    const rig = newRig({
      scenario: {
        rules: [{ play: [
          { do: 'write', path: 'made.txt', content: 'made' },
          { do: 'text', text: 'All done.', report: { summary: 'Made it', files: ['made.txt'], verification: 'none' } },
        ] }],
      },
      config: { appendSystemPrompt: 'Be brief', model: 'm1' },
      request: { prompt: '/looks like a command' },
    })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches, outcome.exit, outcome.clock, outcome.message, outcome.model])
      .toEqual(['succeeded', 1, { known: true, code: 0, signal: null }, null, 'OpenClaude reported success (exit code 0).', 'm1'])
    expect(outcome.report).toEqual({ kind: 'present', summary: 'Made it', files: ['made.txt'], verification: '', unfinished: '' })
    expect([outcome.usage.inputTokens > 0, outcome.costUsd > 0, outcome.durationMs > 0]).toEqual([true, true, true])
    expect(rig.attempt.kinds()).toEqual(['launch-intended', 'launch-live', 'launch-first-record', 'launch-ended', 'launch-swept'])
    expect(readFileSync(join(rig.attempt.workspace, 'made.txt'), 'utf8')).toBe('made')
    expect(rig.attempt.activities.at(-1)).toMatchObject({ launch: 1, phase: 'settling', lastTool: 'Write', costUsd: outcome.costUsd })
    const [launch] = rig.simLaunches()
    expect([launch?.prompt, launch?.session, launch?.argv.slice(0, 7)]).toEqual([
      'The task:\n/looks like a command', outcome.sessionId,
      ['--print', '--output-format', 'stream-json', '--verbose', '--include-partial-messages', '--session-id', outcome.sessionId],
    ])
    expect(rig.attempt.of('launch-swept')).toEqual([{ kind: 'launch-swept', launch: 1, result: 'clean', ended: 0 }])
  })

  it('heals a stall by resuming the same session in the same attempt (R-67, R-78)', async () => {
    const rig = newRig({
      scenario: {
        rules: [
          { when: { launch: 'fresh' }, play: [{ do: 'write', path: 'half.txt', content: 'half' }, { do: 'hang' }] },
          { when: { launch: 'resume' }, play: [{ do: 'text', text: 'Finished after all.' }] },
        ],
      },
    })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches, outcome.clock]).toEqual(['succeeded', 2, null])
    expect(intended(rig)).toEqual([[1, 'fresh', 'first'], [2, 'resume', 'stalled']])
    const [first, second] = rig.simLaunches()
    expect(first?.argv).toContain('--session-id')
    expect(second?.argv).toContain('--resume')
    expect([second?.session, second?.argv.includes('--session-id')]).toEqual([first?.session, false])
    expect(second?.prompt).toContain('Look at the working tree first')
    expect(rig.attempt.of('launch-ended')[0]?.end).toMatchObject({ endedBy: { kind: 'clock', clock: 'idle' }, lastTool: 'Write', lastPhase: 'in_turn' })
    expect(rig.attempt.launches.stalledRestarts).toBe(1)
  })

  it('ends a child that always stalls after two equal stalls, and names phase, session and resume command (R-66, R-67, R-69)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'read', path: 'absent' }, { do: 'hang' }] }] }, config: { maxStalledRestarts: 5 } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches, outcome.clock]).toEqual(['stalled', 2, 'idle'])
    expect(outcome.message).toBe([
      'OpenClaude made no progress and was ended by the idle clock; 2 launches; last heartbeat phase in_turn; last tool Read;',
      `session ${outcome.sessionId}, to look at it: ${rig.config.executable.join(' ')} --resume ${outcome.sessionId}.`,
    ].join(' '))
  })

  it('ends the whole tree of a stalled child, an escaped grandchild included (T1, F15)', async () => {
    const rig = newRig({
      scenario: {
        rules: [
          { when: { launch: 'fresh' }, play: [
            { do: 'read', path: 'absent' }, { do: 'spawn', how: 'setsid', command: 'sleep 300', ignoreSigterm: true, pidFile: 'escaped.pid' }, { do: 'hang' },
          ] },
          { when: { launch: 'resume' }, play: [{ do: 'text', text: 'ok' }] },
        ],
      },
    })
    const handle = rig.start()
    await until(() => existsSync(join(rig.attempt.workspace, 'escaped.pid')), 'the grandchild')
    const outcome = await handle.outcome
    expect([outcome.kind, outcome.launches, rig.left()]).toEqual(['succeeded', 2, []])
    expect(rig.attempt.kinds().filter(kind => kind === 'warning')).toEqual([])
  })

  it('says that the child it ends had been stopped by a signal (F13)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'bash', command: 'kill -STOP $PPID; sleep 300' }] }] }, config: { maxStalledRestarts: 0, toolTimeoutMs: 3000 } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.clock, rig.left()]).toEqual(['stalled', 'tool', []])
    expect(rig.attempt.of('warning').map(fact => [fact.code, fact.message.startsWith('A signal had stopped the child')])).toEqual([['child-stopped', true]])
  })

  it('never ends a child that is silent for less than the window and slow to leave (T3)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'init' }, { do: 'hang', ms: 4500 }, { do: 'text', text: 'ok' }, { do: 'hang', at: 'exit', ms: 500 }] }] }, config: { idleTimeoutMs: 5000 } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches, outcome.exit]).toEqual(['succeeded', 1, { known: true, code: 0, signal: null }])
  })

  it('ends a permission question at once without a relaunch (T5)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'permission', tool: 'Bash' }] }] }, config: { idleTimeoutMs: 60_000, toolTimeoutMs: 60_000 } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches, outcome.clock]).toEqual(['permission-wait', 1, 'requires-action'])
  })

  it('leaves alone a stale permission phase and a wait for agents (T5)', async () => {
    const rig = newRig({
      scenario: { rules: [{ play: [
        { do: 'init' },
        { do: 'heartbeat', state: 'running', phase: 'waiting_for_permission' },
        { do: 'heartbeat', state: 'running', phase: 'waiting_for_agents' },
        { do: 'hang', ms: 1000 },
        { do: 'text', text: 'ok' },
      ] }] },
    })
    expect((await rig.start().outcome).kind).toBe('succeeded')
    expect(rig.simLaunches().length).toBe(1)
  })

  it('gives a child that never speaks a fresh session, and tells it from a stall in the middle (T6)', async () => {
    const rig = newRig({ scenario: { rules: [{ setup: { startDelayMs: 60_000 }, play: [] }] }, config: { firstEventTimeoutMs: 1500, killGraceMs: 200 } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.clock, outcome.launches]).toEqual(['stalled', 'first-event', 2])
    expect(intended(rig)).toEqual([[1, 'fresh', 'first'], [2, 'fresh', 'stalled']])
    expect(new Set(rig.attempt.of('launch-intended').map(fact => fact.sessionId)).size).toBe(2)
    expect(outcome.message).toContain('last heartbeat phase none')
  })

  it('answers a refused resume with exactly one fresh session that is told so (T7)', async () => {
    const rig = newRig({
      scenario: {
        setup: { resume: 'refuse' },
        rules: [
          { times: 1, when: { launch: 'fresh' }, play: [{ do: 'init' }, { do: 'hang' }] },
          { when: { launch: 'fresh' }, play: [{ do: 'text', text: 'ok' }] },
        ],
      },
    })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches]).toEqual(['succeeded', 3])
    expect(intended(rig)).toEqual([[1, 'fresh', 'first'], [2, 'resume', 'stalled'], [3, 'fresh', 'resume-refused']])
    const [first, second, third] = rig.attempt.of('launch-intended').map(fact => fact.sessionId)
    expect([second === first, third === first]).toEqual([true, false])
    expect(rig.simLaunches().at(-1)?.prompt).toContain('Its conversation is lost.')
    expect(rig.attempt.launches.freshSessions).toBe(1)
  })

  it('keeps the exit code of a failure (R-70, R-98)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'init' }, { do: 'raw', text: 'why it failed\n', to: 'stderr' }, { do: 'exit', code: 7 }] }] } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.exit, outcome.stderrTail]).toEqual(['no-result', { known: true, code: 7, signal: null }, 'why it failed\n'])
  })

  it('reports an error result as such (OC 0.3)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'api-error', text: 'API Error: 500' }] }] } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.exit, outcome.result?.isError, outcome.result?.text]).toEqual(['agent-error', { known: true, code: 1, signal: null }, true, 'API Error: 500'])
    expect(outcome.message).not.toContain('API Error')
  })

  it('keeps the signal of a crash, and relaunches once after a kill from outside (R-70, F29)', async () => {
    const crash = newRig({ scenario: { rules: [{ play: [{ do: 'init' }, { do: 'die', signal: 'SIGSEGV' }] }] } })
    const crashed = await crash.start().outcome
    expect([crashed.kind, crashed.exit, crashed.launches]).toEqual(['no-result', { known: true, code: null, signal: 'SIGSEGV' }, 1])
    const killed = newRig({ scenario: { rules: [
      { when: { launch: 'fresh' }, play: [{ do: 'init' }, { do: 'die', signal: 'SIGKILL' }] },
      { play: [{ do: 'text', text: 'ok' }] },
    ] } })
    expect((await killed.start().outcome).kind).toBe('succeeded')
    expect(intended(killed)).toEqual([[1, 'fresh', 'first'], [2, 'resume', 'killed-externally']])
  })

  it('keeps the result of a child that then does not leave (SEMANTICS 4: settle)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'text', text: 'ok' }, { do: 'result' }, { do: 'hang', at: 'exit' }] }] } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches, outcome.clock, outcome.result?.text, rig.left()]).toEqual(['succeeded', 1, 'settle', 'ok', []])
  })

  it('resumes an overrun within the same bound (R-19)', async () => {
    const rig = newRig({
      scenario: {
        rules: [
          { when: { launch: 'fresh' }, play: [{ do: 'text', text: 'x'.repeat(2400), chunkMs: 200 }] },
          { play: [{ do: 'text', text: 'ok' }] },
        ],
      },
      config: { maxRuntimeMs: 2500 },
    })
    const outcome = await rig.start().outcome
    expect([outcome.kind, intended(rig)]).toEqual(['succeeded', [[1, 'fresh', 'first'], [2, 'resume', 'overrun']]])
    expect(rig.attempt.of('launch-ended')[0]?.end.endedBy).toEqual({ kind: 'clock', clock: 'max-runtime' })
  })

  it('says in a dry run once what it would end, and ends nothing', async () => {
    const rig = newRig({
      scenario: { rules: [{ play: [{ do: 'init' }, { do: 'hang', ms: 5500 }, { do: 'text', text: 'ok' }] }] },
      config: { watchdog: 'dry-run', idleTimeoutMs: 1500 },
    })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches]).toEqual(['succeeded', 1])
    expect(rig.attempt.of('warning').map(fact => [fact.code, fact.message.startsWith('Dry run, nothing was ended. No progress for')])).toEqual([['watchdog-would-end', true]])
  })

  it('ends by stop, abort and now, and says which; a stubborn child too (R-20, R-77, R-94, F14)', async () => {
    const endings = [['stop', 'stopped', 'stop', 500], ['abort', 'aborted', 'abort', 500], ['now', 'stopped', 'stop', 60_000]] as const
    await Promise.all(endings.map(async ([request, kind, endedBy, killGraceMs]) => {
      const rig = newRig({
        scenario: { rules: [{ setup: { ignoreSignals: ['SIGTERM', 'SIGINT'] }, play: [
          { do: 'spawn', how: 'double-fork', command: 'sleep 300', ignoreSigterm: true }, { do: 'hang' },
        ] }] },
        config: { killGraceMs, idleTimeoutMs: 60_000 },
      })
      const handle = rig.start()
      await until(() => rig.left().length >= 3, 'keeper, child and grandchild')
      handle.end(request)
      const outcome = await handle.outcome
      expect([outcome.kind, outcome.launches, rig.attempt.of('launch-ended')[0]?.end.endedBy, rig.left()]).toEqual([kind, 1, { kind: endedBy }, []])
      expect(rig.attempt.kinds().slice(-2)).toEqual(['launch-ended', 'launch-swept'])
    }))
  })

  it('lets no secret out of the launch (T22)', async () => {
    const secret = 'tvly-0123456789'
    const rig = newRig({
      scenario: { rules: [{ play: [{ do: 'raw', text: `key {{env.TAVILY_TOKEN}}\n`, to: 'stderr' }, { do: 'text', text: 'I used {{env.TAVILY_TOKEN}}' }] }] },
      env: { TAVILY_TOKEN: secret },
      secrets: [secret],
    })
    const outcome = await rig.start().outcome
    expect([outcome.result?.text, outcome.stderrTail]).toEqual(['I used ***', 'key ***\n'])
    const { attemptDir } = rig.attempt.request
    expect(JSON.stringify([outcome, rig.attempt.facts, readFileSync(join(attemptDir, 'l1', 'spec.json'), 'utf8')])).not.toContain(secret)
  })

  it('ends a child that floods its output, and keeps what was written (F17)', async () => {
    const rig = newRig({ scenario: { rules: [{ play: [{ do: 'init' }, { do: 'flood', bytes: 50_000_000 }, { do: 'hang' }] }] }, config: { maxStreamBytes: 300_000 } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.launches]).toEqual(['flooded', 1])
    expect(statSync(join(rig.attempt.request.attemptDir, 'l1', 'stdout.ndjson')).size).toBeLessThan(301_000)
  })

  it('reads no line beyond its cap into memory, and says when that was the result (F18)', async () => {
    const rig = newRig({
      scenario: { rules: [{ play: [{ do: 'text', text: 'ok' }, { do: 'result', text: 'x'.repeat(50_000) }] }] },
      config: { maxLineBytes: 20_000 },
    })
    expect((await rig.start().outcome).kind).toBe('result-oversize')
  })

  it('mints a session of its own for every run (R-68)', async () => {
    const rig = newRig({ scenario: { rules: [] }, config: { executable: ['no-such-openclaude'] } })
    for (let run = 0; run < 1000; run += 1) await rig.executor.start({ ...rig.attempt.request, launches: newLaunches() }, rig.attempt.ports).outcome
    expect(new Set(rig.attempt.of('launch-intended').map(fact => fact.sessionId)).size).toBe(1000)
  })

  it('names executable and PATH when the executable is nowhere (T14, R-13)', async () => {
    const rig = newRig({ scenario: { rules: [] }, config: { executable: ['no-such-openclaude'] } })
    const outcome = await rig.start().outcome
    expect([outcome.kind, outcome.spawnFailure?.reason, outcome.spawnFailure?.key]).toEqual(['spawn-failed', 'not-found', 'not-found:no-such-openclaude'])
    expect(outcome.message).toContain(`PATH of the child is: ${process.env['PATH']}`)
    expect(rig.attempt.kinds()).toEqual(['launch-intended', 'launch-spawn-failed'])
  })

  it('says that the working directory is missing (F23)', async () => {
    const rig = newRig({ scenario: { rules: [] }, request: { cwd: '/no/such/folder' } })
    expect((await rig.start().outcome).spawnFailure?.reason).toBe('missing-cwd')
  })

  it('warns when another model ran than the one that was asked for (OC 0.10)', async () => {
    const rig = newRig({ scenario: { setup: { model: 'other' }, rules: [] }, request: { model: 'wanted' } })
    await rig.start().outcome
    expect(rig.attempt.of('warning').map(fact => [fact.code, fact.message])).toEqual([['model-differs', 'The model "wanted" was asked for, but "other" ran.']])
  })

  it('removes the sessions it minted and nothing else', async () => {
    const rig = newRig({ scenario: { rules: [] } })
    const outcome = await rig.start().outcome
    const folder = join(rig.attempt.root, 'home', '.openclaude', 'projects', rig.attempt.workspace.replaceAll(/[^A-Za-z0-9]/g, '-'))
    expect(existsSync(join(folder, `${outcome.sessionId}.jsonl`))).toBe(true)
    await rig.executor.forget?.([{ sessionId: outcome.sessionId ?? '', cwd: rig.attempt.workspace }])
    expect(existsSync(join(folder, `${outcome.sessionId}.jsonl`))).toBe(false)
  })

  it('rejects when the journal is poisoned, and launches nothing', async () => {
    const rig = newRig({ scenario: { rules: [] } })
    const poisoned = { ...rig.attempt.ports, record: () => Promise.reject(new Error('journal is poisoned')) }
    await expect(rig.executor.start(rig.attempt.request, poisoned).outcome).rejects.toThrow('journal is poisoned')
    expect(rig.simLaunches()).toEqual([])
  })
})
