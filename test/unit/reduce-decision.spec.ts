import { describe, expect, test } from 'vitest'
import type { Advice, Decision } from '../../src/core/evidence-types.ts'
import type { RunPolicy } from '../../src/core/run-types.ts'
import { evidence, graphOf, launchIntended, outcome, spec, verdict } from '../support/core-facts.ts'
import type { Script, World } from '../support/core-world.ts'
import { STARTED, kindsOf, startOrder, startWorld, statuses, world } from '../support/core-world.ts'

const ONE = graphOf({ a: [] })
const rejected = (): ReturnType<typeof verdict> => verdict('rejected')
const advise = (decision: Decision): Advice => ({ kind: 'decided', decision, askFile: 'ask', answerFile: 'answer' })
const RETRY: Decision = { kind: 'retry', reason: 'not yet', guidance: 'mind the edge case' }
const PATCH: Decision = { kind: 'patch', reason: 'one line', edits: [{ path: 'src/a.ts', content: 'x' }] }

function supervised(script: Script, over: Partial<RunPolicy> = {}, graph = ONE): World {
  const run = startWorld(graph, { policy: { supervised: true, ...over }, script })
  run.run()
  return run
}

const decisions = (run: World): readonly unknown[] => run.entries.flatMap(entry => entry.kind === 'decision' ? [[entry.round, entry.by, entry.decision.kind]] : [])
const advice = (run: World): readonly unknown[] => run.entries.flatMap(entry => entry.kind === 'advice' ? [[entry.round, entry.result]] : [])
const handoff = (run: World): string | undefined => run.entries.flatMap(entry => entry.kind === 'handoff-opened' ? [entry.reason] : [])[0]

describe('decisions of an advisor (R-60, R-95)', () => {
  test('a verified attempt is accepted by the policy without asking', () => {
    const run = supervised({})
    expect(decisions(run)).toEqual([[1, 'policy', 'accept']])
    expect(advice(run)).toEqual([])
    expect(run.state.tasks[0]?.rounds).toBe(0)
  })

  test('accept of an unverified attempt lands it where that is allowed', () => {
    const run = supervised({ verdict: () => verdict('unverified'), advice: () => advise({ kind: 'accept', reason: 'docs only' }) }, { acceptUnverified: true })
    expect(decisions(run)).toEqual([[1, 'advisor', 'accept']])
    expect(statuses(run)).toEqual({ a: 'accepted' })
  })

  test('retry starts the next attempt with the guidance and its source', () => {
    const run = startWorld(ONE, { policy: { supervised: true }, script: { verdict: (_, attempt) => verdict(attempt === 1 ? 'rejected' : 'verified'), advice: () => advise(RETRY) } })
    run.run(effect => effect.kind === 'execute' && effect.attempt === 2)
    const task = run.state.tasks[0]
    const attempt = task?.state.status === 'active' ? task.state.attempt : undefined
    expect([attempt?.kind, attempt?.guidance, attempt?.guidanceSource, attempt?.freshTree]).toEqual(['retry', 'mind the edge case', 'advisor', false])
    run.run()
    expect(statuses(run)).toEqual({ a: 'accepted' })
  })

  test('always retry is escalated on round 5, when attempts would last longer (R-29)', () => {
    const run = supervised({ verdict: rejected, advice: () => advise(RETRY) }, { maxRetriesPerTask: 9 })
    expect(decisions(run)).toEqual([[1, 'advisor', 'retry'], [2, 'advisor', 'retry'], [3, 'advisor', 'retry'], [4, 'advisor', 'retry'], [5, 'policy', 'escalate']])
    expect(handoff(run)).toBe('Round 5 of 5 (maxSupervisionRounds) answered retry. not yet')
  })

  test('retry is escalated when the attempts are used up first (R-28, R-29)', () => {
    const run = supervised({ verdict: rejected, advice: () => advise(RETRY) })
    expect(startOrder(run)).toEqual(['a/1', 'a/2', 'a/3'])
    expect(handoff(run)).toBe('A retry was decided, but no attempt is left. not yet')
  })

  test('accept over a red required check is illegal, counts a round, and is asked again until the rounds are used (T21)', () => {
    const run = supervised({ verdict: rejected, checks: () => [evidence('test', 'failed')], advice: () => advise({ kind: 'accept', reason: 'fine by me' }) }, { maxSupervisionRounds: 3 })
    expect(advice(run)).toEqual([[1, 'illegal'], [2, 'illegal'], [3, 'illegal']])
    expect(decisions(run)).toEqual([[3, 'policy', 'escalate']])
    expect(handoff(run)).toBe('All 3 rounds (maxSupervisionRounds) are used. The last answer was illegal: accept is not possible while required checks are red: test.')
    expect(startOrder(run)).toEqual(['a/1'])
  })

  test('an answer that could not be read twice is escalated, not silently retried (R-60, T21)', () => {
    const run = supervised({ verdict: rejected, advice: () => ({ kind: 'unreadable', reason: 'prose', askFile: null, answerFile: 'answer' }) })
    expect(advice(run)).toEqual([[1, 'unreadable']])
    expect(handoff(run)).toBe("The advisor's answer could not be read. prose")
    expect(startOrder(run)).toEqual(['a/1'])
  })

  test('an advisor that can not be asked leaves the decision to the policy, on record', () => {
    const run = supervised({ verdict: (_, attempt) => verdict(attempt === 1 ? 'rejected' : 'verified'), advice: () => ({ kind: 'unavailable', reason: 'timeout' }) })
    expect(advice(run)).toEqual([[1, 'unavailable']])
    expect(decisions(run)).toEqual([[1, 'policy', 'retry'], [2, 'policy', 'accept']])
  })

  test('escalate opens a hand-off and keeps the evidence readable', () => {
    const run = supervised({ verdict: rejected, checks: () => [evidence('test', 'failed')], advice: () => advise({ kind: 'escalate', reason: 'needs a key' }) })
    expect(run.state.tasks.map(task => [task.state, task.last?.evidence.map(each => each.check)])).toEqual([[{ status: 'escalated', handoff: 'h1', reason: 'needs a key' }, ['test']]])
  })

  test('without rounds (0) nobody is asked', () => {
    const run = supervised({ verdict: rejected }, { maxSupervisionRounds: 0 })
    expect([advice(run), handoff(run)]).toEqual([[], 'All 0 rounds (maxSupervisionRounds) are used. verdict rejected'])
  })
})

describe('patches', () => {
  test('are intended, applied and judged again in the same attempt, one round, no launch (R-57, R-60)', () => {
    let judged = 0
    const run = supervised({ verdict: () => verdict(judged++ === 0 ? 'rejected' : 'verified'), advice: () => advise(PATCH) })
    expect(kindsOf(run, 'a').slice(-11)).toEqual(['check-evidence', 'verdict', 'advice', 'decision', 'patch-intended', 'patch-applied', 'check-evidence', 'verdict', 'decision', 'land-intended', 'landed', 'task-accepted'].slice(1))
    expect(startOrder(run)).toEqual(['a/1'])
    expect(run.entries.filter(entry => entry.kind === 'launch-intended')).toHaveLength(1)
    expect(run.state.tasks[0]?.rounds).toBe(1)
  })

  test('leave no evidence of the tree before them in force', () => {
    let judged = 0
    const run = supervised({
      checks: () => judged === 0 ? [evidence('lint', 'failed'), evidence('test', 'passed')] : [evidence('test', 'passed')],
      verdict: () => verdict(judged++ === 0 ? 'rejected' : 'verified'),
      advice: () => advise(PATCH),
    })
    expect(run.state.tasks[0]?.last?.evidence.map(each => each.check)).toEqual(['test'])
  })

  test('that are only suggested go to a person with the file named (R-34)', () => {
    const run = supervised({ verdict: rejected, advice: () => advise(PATCH), patched: () => 'suggested' })
    expect(handoff(run)).toBe('A patch is suggested and was not applied (patchMode): see advice/1.diff. as scripted')
  })

  test('that are refused count their round and the advisor is asked again (R-57)', () => {
    const run = supervised({ verdict: rejected, advice: (_, __, round) => advise(round === 1 ? PATCH : { kind: 'escalate', reason: 'can not patch' }), patched: () => 'refused' })
    expect(decisions(run)).toEqual([[1, 'advisor', 'patch'], [2, 'advisor', 'escalate']])
  })

  test('without end are bounded by the rounds', () => {
    const run = supervised({ verdict: rejected, advice: () => advise(PATCH) }, { maxSupervisionRounds: 3 })
    expect(decisions(run)).toEqual([[1, 'advisor', 'patch'], [2, 'advisor', 'patch'], [3, 'policy', 'escalate']])
  })
})

describe('splits', () => {
  const split = (tasks: readonly ReturnType<typeof spec>[]): Advice => advise({ kind: 'split', reason: 'too big', tasks })
  const CHAIN = graphOf({ a: [], b: ['a'] })

  test('close the parent through its children; what waited for the parent waits for them (R-61, R-102)', () => {
    const run = supervised({ verdict: task => verdict(task === 'a' ? 'rejected' : 'verified'), advice: () => split([spec('a1'), spec('a2', ['a1'])]) }, {}, CHAIN)
    expect(startOrder(run)).toEqual(['a/1', 'a1/1', 'a2/1', 'b/1'])
    expect(statuses(run)).toEqual({ a: 'accepted', b: 'accepted', a1: 'accepted', a2: 'accepted' })
    expect(run.entries.find(entry => entry.kind === 'task-accepted' && entry.task === 'a')).toEqual({ kind: 'task-accepted', task: 'a', attempt: 0, evidence: [], commit: null })
    expect(run.state.result).toEqual({ kind: 'complete' })
  })

  test('of splits close all the way up with the last child', () => {
    const run = supervised({
      verdict: task => verdict(task === 'a' || task === 'a1' ? 'rejected' : 'verified'),
      advice: task => split([spec(`${task}1`)]),
    }, {}, CHAIN)
    expect(startOrder(run)).toEqual(['a/1', 'a1/1', 'a11/1', 'b/1'])
    expect(statuses(run)).toEqual({ a: 'accepted', b: 'accepted', a1: 'accepted', a11: 'accepted' })
  })

  test('block the parent and its dependents by a child that fails, and free them when it is retried', () => {
    let healthy = false
    const script: Script = {
      verdict: task => verdict(task === 'a' || (task === 'a1' && !healthy) ? 'rejected' : 'verified'),
      advice: task => task === 'a' ? split([spec('a1'), spec('a2')]) : advise({ kind: 'escalate', reason: 'stuck' }),
    }
    const run = supervised(script, {}, CHAIN)
    expect(statuses(run)).toEqual({ a: 'blocked', b: 'blocked', a1: 'escalated', a2: 'accepted' })
    healthy = true
    run.send({ type: 'control', id: '1', by: 'me', command: { kind: 'retry', task: 'a1', guidance: '' } })
    expect(statuses(run)).toEqual({ a: 'split', b: 'pending', a1: 'active', a2: 'accepted' })
    run.run()
    expect(run.state.result).toEqual({ kind: 'complete' })
  })

  test('that are illegal are refused with every reason and count a round (R-61)', () => {
    const tasks = [spec('B'), spec('x', ['y']), spec('y', ['x', 'b', 'nope'])]
    const run = supervised({ verdict: rejected, advice: () => split(tasks) }, { maxSupervisionRounds: 1 }, CHAIN)
    expect(run.entries.find(entry => entry.kind === 'advice')).toMatchObject({
      result: 'illegal',
      reason: 'Task "B" has an id that is taken (case is ignored). Task "y" depends on "b", which is unknown or waits for "a" itself. '
        + 'Task "y" depends on "nope", which is unknown or waits for "a" itself. The tasks depend on each other in a circle: x -> y.',
    })
    expect(statuses(run)).toEqual({ a: 'escalated', b: 'blocked' })
  })

  test('may wait for other tasks of the run, and are blocked by one that is stuck already', () => {
    const graph = graphOf({ other: [], a: [] })
    const run = supervised({
      verdict: task => verdict(task === 'a1' ? 'verified' : 'rejected'),
      advice: task => task === 'a' ? split([spec('a1'), spec('a2', ['other'])]) : advise({ kind: 'escalate', reason: 'stuck' }),
    }, { maxConcurrency: 1 }, graph)
    expect(statuses(run)).toEqual({ other: 'escalated', a: 'blocked', a1: 'accepted', a2: 'blocked' })
    expect(run.state.result).toEqual({ kind: 'incomplete' })
  })

  test('are bounded in depth and number', () => {
    const deeper = supervised({ verdict: rejected, advice: task => split([spec(`${task}.1`)]) }, { maxSupervisionRounds: 5 })
    expect(deeper.state.tasks.map(task => task.depth)).toEqual([0, 1, 2])
    expect(handoff(deeper)).toContain('Task "a.1.1" is 2 splits deep; 2 are allowed.')
    const wide = supervised({ verdict: rejected, advice: () => split([spec('x'), spec('y')]) }, { maxSplitChildren: 1, maxSupervisionRounds: 1 })
    expect(handoff(wide)).toContain('The run would have 2 tasks from splits; 1 are allowed.')
  })
})

describe('outcomes that no check is run for', () => {
  test.each(['agent-error', 'no-result', 'result-oversize', 'stalled', 'overrun', 'flooded', 'killed-externally'] as const)(
    '%s is rejected without judging and tried again with the outcome as guidance',
    kind => {
      const run = startWorld(ONE, { script: { outcome: (_, attempt) => outcome(attempt === 1 ? kind : 'succeeded') } })
      run.run()
      expect(run.entries.filter(entry => entry.kind === 'verdict' || entry.kind === 'decision').slice(0, 2)).toEqual([
        { kind: 'verdict', task: 'a', attempt: 1, verdict: { kind: 'rejected', reason: `The attempt ended as ${kind}: outcome ${kind}`, judgeError: false, evidence: [], findings: [], tree: 'tree' } },
        { kind: 'decision', task: 'a', attempt: 1, round: 1, by: 'policy', decision: { kind: 'retry', reason: `The attempt ended as ${kind}: outcome ${kind}`, guidance: `The last attempt ended as ${kind}.` } },
      ])
      expect(statuses(run)).toEqual({ a: 'accepted' })
    },
  )

  test('tainted consumes the attempt, asks no advisor, and goes on with a fresh tree (F15)', () => {
    const run = supervised({ outcome: (_, attempt) => outcome(attempt === 1 ? 'tainted' : 'succeeded') })
    expect(run.entries.filter(entry => entry.kind === 'attempt-started')).toEqual([
      { kind: 'attempt-started', task: 'a', attempt: 1, attemptKind: 'first', freshTree: false },
      { kind: 'attempt-started', task: 'a', attempt: 2, attemptKind: 'retry', freshTree: true },
    ])
    expect(advice(run)).toEqual([])
    expect(run.state.tasks[0]?.attempts).toBe(2)
  })

  test.each(['permission-wait', 'relaunch-limit'] as const)('%s goes to a person at once (T5)', kind => {
    const run = supervised({ outcome: () => outcome(kind) })
    expect([startOrder(run), handoff(run), advice(run)]).toEqual([['a/1'], `outcome ${kind}`, []])
  })

  test('aborted cancels the task and blocks what waits for it', () => {
    const run = startWorld(graphOf({ a: [], b: ['a'] }), { script: { outcome: () => outcome('aborted') } })
    run.run()
    expect(statuses(run)).toEqual({ a: 'cancelled', b: 'blocked' })
  })

  test('three different spawn failures of one task go to a person, and no attempt is counted', () => {
    const run = startWorld(ONE, { script: { outcome: (_, attempt) => outcome('spawn-failed', { spawnFailure: { reason: 'no-resources', message: 'EAGAIN', key: `k${attempt}` } }) } })
    run.run()
    expect([startOrder(run), handoff(run), run.state.tasks[0]?.attempts]).toEqual([['a/1', 'a/2', 'a/3'], 'The executor could not be started 3 times: outcome spawn-failed', 0])
  })

  test('a first record of any launch resets the breaker (SEMANTICS 5)', () => {
    const broken = new Set(['a/1', 'a/2', 'b/2'])
    const seen: string[] = []
    const run = startWorld(graphOf({ a: [], b: [], c: ['a'] }), {
      policy: { maxConcurrency: 1 },
      script: {
        outcome: (task, attempt) => {
          seen.push(`${task}/${attempt}`)
          return outcome(broken.has(`${task}/${attempt}`) ? 'spawn-failed' : 'succeeded')
        },
      },
    })
    run.run()
    expect([run.state.result, run.state.breaker]).toEqual([{ kind: 'complete' }, { key: null, count: 0 }])
  })

  test('a launch that comes to life without a record does not', () => {
    const run = startWorld(graphOf({ a: [] }), { script: { outcome: () => outcome('spawn-failed') } })
    run.run(effect => effect.kind === 'execute' && effect.attempt === 3)
    run.send({ type: 'launch-fact', task: 'a', attempt: 3, fact: launchIntended(1) })
    run.send({ type: 'launch-fact', task: 'a', attempt: 3, fact: { kind: 'launch-live', launch: 1, keeper: null, child: null } })
    expect(run.state.breaker).toEqual({ key: 'not-found:openclaude', count: 2 })
  })

  test('a workspace that can not be prepared counts like a failed spawn', () => {
    const run = startWorld(ONE)
    for (const attempt of [1, 2, 3]) run.send({ type: 'workspace-failed', task: 'a', attempt, message: 'work tree is gone' })
    expect(run.state.result).toEqual({ kind: 'halted', reason: 'breaker', message: 'The executor could not be started 3 times in a row: work tree is gone' })
  })
})

describe('the judge', () => {
  test('runs once more when a check could not be run, then a person decides and the attempt does not count', () => {
    const run = supervised({ verdict: () => verdict('unverified', { judgeError: true, reason: 'Checks could not be run: test (unrunnable).' }) })
    expect(kindsOf(run, 'a').filter(kind => kind === 'verdict')).toHaveLength(2)
    expect([handoff(run), run.state.tasks[0]?.attempts, advice(run)]).toEqual(['The judge failed twice. Checks could not be run: test (unrunnable).', 0, []])
  })

  test('that recovers in the re-run decides as usual', () => {
    let runs = 0
    const run = supervised({ verdict: () => runs++ === 0 ? verdict('unverified', { judgeError: true }) : verdict('verified') })
    expect(statuses(run)).toEqual({ a: 'accepted' })
  })

  test('an unchanged tree is tried once more, then escalated', () => {
    const run = startWorld(ONE, { script: { verdict: () => verdict('unchanged') } })
    run.run()
    expect([startOrder(run), handoff(run)]).toEqual([['a/1', 'a/2'], 'verdict unchanged It is the second attempt that did so.'])
  })
})

describe('landing', () => {
  test('that is refused comes back as rework on a fresh tree and does not count as an attempt', () => {
    const run = startWorld(ONE, { policy: { maxRetriesPerTask: 1 }, script: { land: (_, attempt) => attempt === 1 ? 'conflict' : 'landed' } })
    run.run(effect => effect.kind === 'execute' && effect.attempt === 2)
    const task = run.state.tasks[0]
    expect([task?.state.status === 'active' ? [task.state.attempt.kind, task.state.attempt.guidance, task.state.attempt.freshTree] : null, task?.attempts]).toEqual([['rework', 'conflict in a', true], 1])
    run.run()
    expect(statuses(run)).toEqual({ a: 'accepted' })
  })

  test('that is refused more than maxReworks times goes to a person', () => {
    const run = startWorld(ONE, { script: { land: () => 'conflict' } })
    run.run()
    expect([startOrder(run), handoff(run)]).toEqual([['a/1', 'a/2', 'a/3'], 'The work came back from landing 3 times; maxReworks is 2. conflict in a'])
  })
})

describe('the budget', () => {
  test('halts at the next decision, never mid-launch, and the attempt stays open for a larger one', () => {
    const graph = graphOf({ a: [], b: [] })
    const run = startWorld(graph, { policy: { maxConcurrency: 1, maxBudgetUsd: 0.25 } })
    run.run()
    expect(run.state.result).toEqual({ kind: 'halted', reason: 'budget', message: 'The run has cost 0.2500 US dollars; maxBudgetUsd is 0.25.' })
    expect(statuses(run)).toEqual({ a: 'active', b: 'ready' })
    expect(kindsOf(run, 'a').at(-1)).toBe('verdict')
    const again = world(graph, { policy: { maxConcurrency: 1, maxBudgetUsd: null }, entries: run.entries })
    again.send(STARTED)
    expect(statuses(again)).toEqual({ a: 'active', b: 'ready' })
    expect(again.settles).toBe(1)
    again.send({ type: 'control', id: '1', by: 'me', command: { kind: 'retry', task: 'b', guidance: '' } })
    again.run()
    expect([again.state.result, startOrder(again)]).toEqual([{ kind: 'complete' }, ['a/1', 'b/1']])
  })

  test('counts tokens as well', () => {
    const run = startWorld(ONE, { policy: { maxBudgetTokens: 15 } })
    run.run()
    expect(run.state.result).toEqual({ kind: 'halted', reason: 'budget', message: 'The run has used 15 tokens; maxBudgetTokens is 15.' })
  })
})
