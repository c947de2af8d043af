import { describe, expect, it } from 'vitest'
import { addRecord, envelopeFacts, newEnvelope, type EnvelopeFacts } from '../../src/executor/stream/envelope.ts'
import { decodeRecord } from '../../src/executor/stream/liveness.ts'
import { readJsonOutput } from '../../src/executor/stream/json-output.ts'
import { sumLaunches, type Totals } from '../../src/executor/stream/usage-totals.ts'
import * as says from '../support/child-lines.ts'
import { readRecords, readText } from '../support/recordings.ts'

function fold(lines: readonly string[], earlier?: Totals): EnvelopeFacts {
  const envelope = newEnvelope(earlier)
  for (const text of lines) addRecord(envelope, decodeRecord({ text, oversize: text.startsWith('{"type":"result') && !text.endsWith('}'), bytes: text.length }))
  return envelopeFacts(envelope)
}

function foldRecorded(name: string, earlier?: Totals): EnvelopeFacts {
  const envelope = newEnvelope(earlier)
  for (const record of readRecords(name)) addRecord(envelope, record)
  return envelopeFacts(envelope)
}

const spent = (facts: Pick<EnvelopeFacts, 'usage' | 'costUsd'>): { readonly input: number, readonly cost: number } =>
  ({ input: facts.usage.inputTokens, cost: Math.round(facts.costUsd * 1e6) / 1e6 })
const totals = (input: number, costUsd: number): Totals => ({ usage: { inputTokens: input, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 }, costUsd })

describe('the facts of a launch', () => {
  it('of a whole recorded run', () => {
    expect(foldRecorded('agent-ok-stream')).toEqual({
      result: { subtype: 'success', isError: false, stopReason: 'end_turn', text: 'The helper is done.', errors: [], turns: 2, denials: [] },
      resultOversize: false, openTools: [], backgroundTasks: 0, records: 8, lastTool: 'Agent', lastPhase: null,
      usage: { inputTokens: 300, outputTokens: 11, cacheReadTokens: 0, cacheCreationTokens: 0 }, costUsd: 0.001775,
      model: 'mock-task-agent', sessionId: '00000000-0000-4000-8000-aaaaaaaaaaa1', drift: [],
    })
  })

  it('R-74: the last result record wins', () => {
    expect(fold([says.init(), says.result({ text: 'first' }), says.init(), says.result({ text: 'second' })]).result?.text).toBe('second')
  })

  it('a result of an earlier turn is not the last word of a child that was woken and died', () => {
    expect(fold([says.init(), says.result({ text: 'started' }), says.taskEnded('t', 'a'), says.init()]).result).toBe(null)
  })

  it('F18: a result too long to decode is told apart from none, and a later one takes its place', () => {
    const big = says.result({ text: 'x'.repeat(100) }).slice(0, 90)
    expect([fold([says.init(), big]), fold([says.init(), big, says.result()])].map(({ result, resultOversize }) => ({ text: result?.text, resultOversize }))).toEqual([
      { text: undefined, resultOversize: true }, { text: 'Done.', resultOversize: false },
    ])
  })

  it('tool calls of the main conversation stay open until their result; those of helpers don\'t count', () => {
    const facts = fold([says.init(), says.toolUse('a', 'Bash'), says.toolUse('b', 'Agent'), says.toolUse('c', 'Read', 'b'), says.toolResult('a')])
    expect({ open: facts.openTools, last: facts.lastTool }).toEqual({ open: ['b'], last: 'Read' })
  })

  it('background tasks are those started without an open call, or those of the newest heartbeat', () => {
    const started = [says.init(), says.toolUse('a', 'Bash'), says.taskStarted('t', 'a')]
    expect([
      fold(started), fold([...started, says.toolResult('a')]), fold([...started, says.toolResult('a'), says.taskEnded('t', 'a')]),
      fold([...started, says.toolResult('a'), says.beat(1_000)]), fold([says.init(), says.result(), says.beat(1_000, { background: 2 })]),
    ].map(facts => facts.backgroundTasks)).toEqual([0, 1, 0, 0, 2])
  })

  it('drift names each unknown type once, in order', () => {
    expect(fold([says.unknown('status'), '{"type":"x"}', says.unknown('status')]).drift).toEqual(['system/status', 'x'])
  })

  it('noise is no record, and text heartbeats of stderr tell the phase only', () => {
    const envelope = newEnvelope()
    addRecord(envelope, { kind: 'noise' })
    addRecord(envelope, { kind: 'heartbeat', source: 'text', elapsedMs: 1, sinceLastActivityMs: 1, state: 'running', phase: 'in_turn', pendingPermissions: 0, backgroundTasks: 0 })
    expect({ records: envelope.records, phase: envelope.lastPhase }).toEqual({ records: 0, phase: 'in_turn' })
  })
})

describe('usage and cost (R-69)', () => {
  it('of several results of one process whose totals grow, as recorded', () => {
    expect(spent(foldRecorded('hb-background-bash-stream'))).toEqual({ input: 800, cost: 0.0047 })
    expect(spent(foldRecorded('stream-input-two-turns'))).toEqual({ input: 200, cost: 0.00125 })
  })

  it('of several results that each count themselves', () => {
    expect(spent(fold([says.init(), says.result({ own: 100, cost: 1 }), says.init(), says.result({ own: 300, cost: 3 }), says.init(), says.result({ own: 50, cost: 0.5 })]))).toEqual({ input: 450, cost: 4.5 })
  })

  it('of several results that name no models', () => {
    expect(spent(fold([says.init(), says.result({ own: 100, total: null, cost: 1 }), says.init(), says.result({ own: 100, total: null, cost: 2 })]))).toEqual({ input: 200, cost: 2 })
  })

  it('of a resumed process that counts from zero, as recorded', () => {
    const first = foldRecorded('resume-after-max-turns-1')
    const second = foldRecorded('resume-after-max-turns-2', first)
    expect([first, second, sumLaunches([first, second])].map(spent)).toEqual([{ input: 100, cost: 0.000575 }, { input: 200, cost: 0.0013 }, { input: 300, cost: 0.001875 }])
  })

  it('of a resumed process whose first total already holds the earlier ones', () => {
    const earlier = totals(1000, 10)
    const facts = fold([says.init(), says.result({ own: 200, total: 1200, cost: 12 }), says.init(), says.result({ own: 100, total: 1300, cost: 13 })], earlier)
    expect([spent(facts), spent(sumLaunches([earlier, facts]))]).toEqual([{ input: 300, cost: 3 }, { input: 1300, cost: 13 }])
  })

  it('of a resumed process whose helper used tokens of its own', () => {
    expect(spent(fold([says.init(), says.result({ own: 200, total: 260, cost: 2.6 })], totals(1000, 10)))).toEqual({ input: 260, cost: 2.6 })
  })

  it('of a child that died before its result, from the replies it streamed', () => {
    const reply = '{"type":"stream_event","event":{"type":"message_delta","usage":{"input_tokens":100,"output_tokens":7}},"parent_tool_use_id":null}'
    expect([fold([says.init(), reply, reply]), fold([says.init(), reply, says.result({ own: 100 }), says.init(), reply])].map(facts => facts.usage.inputTokens)).toEqual([200, 200])
  })
})

describe('json output (R-74)', () => {
  const texts = (stdout: string): unknown => {
    const output = readJsonOutput(stdout)
    return output.kind === 'envelope' ? output.records.map(record => (record.kind === 'result' ? record.result.text : record.kind)) : output.reason
  }
  const one = says.result({ text: 'one' })
  const two = says.result({ text: 'two {"type":"result"} [' })

  it.each<[string, string, unknown]>([
    ['one envelope', one, ['one']],
    ['noise before, between and behind', `npm warn [x] {\n${one}\n{"level":"info"} tail\n${two}\nbye {`, ['two {"type":"result"} [']],
    ['noise on the same line', `Debugger {attached}. ${one} done`, ['one']],
    ['an envelope spread over lines', `log\n${JSON.stringify(JSON.parse(one), null, 2)}\n`, ['one']],
    ['an array of all records', `[${says.init()},${says.said('hi')},${one}]`, ['init', 'assistant', 'one']],
    ['a broken envelope after a good one', `${one}\n${two.slice(0, 80)}`, ['one']],
    ['a result quoted in a string', JSON.stringify({ message: one }), 'no-result'],
    ['JSON without a result', '[1,2]\n{"type":"system"}', 'no-result'],
    ['no JSON', 'Segmentation fault [core dumped]', 'no-json'],
    ['nothing', ' \n ', 'empty'],
  ])('of %s', (_, stdout, expected) => {
    expect(texts(stdout)).toEqual(expected)
  })

  it('of recorded runs', () => {
    expect([texts(readText('json-verbose', 'stdout.txt')), texts(readText('bash-echo-json', 'stdout.txt'))]).toEqual([
      [
        'init', 'assistant', 'assistant', 'user', 'assistant',
        'The command printed hello-from-bash.'], ['The command printed hello-from-bash.',
      ],
    ])
  })

  it('costs no square of its length over noise', () => {
    const started = performance.now()
    readJsonOutput(`${'{ [ "'.repeat(50_000)}\n${'{\n'.repeat(25_000)}${one}`)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
