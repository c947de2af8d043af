import { describe, expect, it } from 'vitest'
import type { ChildRecord } from '../../src/executor/stream/child-record.ts'
import { decodeRecord, decodeStderrLine } from '../../src/executor/stream/liveness.ts'
import { MAX_RESULT_TEXT_BYTES } from '../../src/executor/stream/result-record.ts'
import * as says from '../support/child-lines.ts'
import { readRecords, readText } from '../support/recordings.ts'

const decode = (text: string): ChildRecord => decodeRecord({ text, oversize: false, bytes: text.length })
const stderr = (text: string): ChildRecord => decodeStderrLine({ text, oversize: false, bytes: text.length })
const kinds = (name: string): readonly string[] => readRecords(name).map(record => record.kind)

describe('decodeRecord (R-64)', () => {
  it.each<[string, string, ChildRecord]>([
    ['an init record', says.init('m'), { kind: 'init', model: 'm', sessionId: '00000000-0000-4000-8000-000000000001' }],
    ['a tool call', says.toolUse('a', 'Bash'), { kind: 'assistant', toolUses: [{ id: 'a', name: 'Bash' }], parent: null }],
    ['a helper\'s tool call', says.toolUse('b', 'Read', 'a'), { kind: 'assistant', toolUses: [{ id: 'b', name: 'Read' }], parent: 'a' }],
    ['text', says.said('hi'), { kind: 'assistant', toolUses: [], parent: null }],
    ['a tool result', says.toolResult('a'), { kind: 'user', toolResults: ['a'], parent: null }],
    [
      'a prompt given as one string', '{"type":"user","message":{"role":"user","content":"go"}}',
      { kind: 'user', toolResults: [], parent: null },
    ],
    ['a token', says.token('a'), { kind: 'stream-event', parent: 'a', usage: null }],
    [
      'the end of a reply with its usage',
      '{"type":"stream_event","event":{"type":"message_delta","usage":{"input_tokens":100,"output_tokens":70,"cache_read_input_tokens":3}},"parent_tool_use_id":null}',
      { kind: 'stream-event', parent: null, usage: { inputTokens: 100, outputTokens: 70, cacheReadTokens: 3, cacheCreationTokens: 0 } },
    ],
    [
      'a heartbeat', says.beat(5_001, { phase: 'waiting_for_agents', background: 2 }),
      {
        kind: 'heartbeat', source: 'record', elapsedMs: 6_001, sinceLastActivityMs: 5_001, state: 'running', phase: 'waiting_for_agents',
        pendingPermissions: 0, backgroundTasks: 2,
      },
    ],
    [
      'a retry with a fractional delay', says.retry(571.058),
      { kind: 'api-retry', attempt: 1, delayMs: 571.058, status: 500, error: 'server_error' },
    ],
    ['tool progress', says.toolProgress('a'), { kind: 'tool-progress', toolUseId: 'bash-progress-0', parent: 'a' }],
    ['a task', says.taskStarted('t', 'a'), { kind: 'task', event: 'started', taskId: 't', toolUseId: 'a' }],
    ['an unknown type', '{"type":"rate_limit_event"}', { kind: 'other', type: 'rate_limit_event' }],
    ['an unknown subtype', says.unknown('status'), { kind: 'other', type: 'system/status' }],
    ['a type that holds control characters', String.raw`{"type":"a\u001b[31m\nb"}`, { kind: 'other', type: 'a?[31m?b' }],
    ['an array', '[{"type":"result"}]', { kind: 'noise' }],
    ['an object without a type', '{"level":"info"}', { kind: 'noise' }],
    ['a cut object', '{"type":"assistant","mess', { kind: 'noise' }],
    ['a keep-alive', '{"type":"keep_alive"}', { kind: 'noise' }],
    ['an empty line', '', { kind: 'noise' }],
  ])('reads %s', (_, text, record) => {
    expect(decode(text)).toEqual(record)
  })

  it('tolerates CR, blanks around a record, and fields of wrong types', () => {
    expect([decode(`  ${says.token()} \r`), decode('{"type":"assistant","message":7}'), decode('{"type":"system","subtype":"heartbeat","background_tasks":[1]}')]).toEqual([
      { kind: 'stream-event', parent: null, usage: null },
      { kind: 'assistant', toolUses: [], parent: null },
      {
        kind: 'heartbeat', source: 'record', elapsedMs: 0, sinceLastActivityMs: 0, state: '', phase: '', pendingPermissions: 0,
        backgroundTasks: 0,
      },
    ])
  })

  it('reads a result with usage, cost, denials and model', () => {
    const text = JSON.stringify({
      type: 'result', subtype: 'success', is_error: false, num_turns: 2, result: 'Done.', stop_reason: 'end_turn', session_id: 's', total_cost_usd: 0.5,
      usage: { input_tokens: 200, output_tokens: 6 },
      modelUsage: { big: { inputTokens: 200, outputTokens: 6, costUSD: 0.4 }, small: { inputTokens: 100, outputTokens: 5, cacheReadInputTokens: 7, costUSD: 0.1 } },
      permission_denials: [{ tool_name: 'Write', tool_use_id: 'w', tool_input: { secret: 'x' } }],
    })
    expect(decode(text)).toEqual({
      kind: 'result',
      result: { subtype: 'success', isError: false, stopReason: 'end_turn', text: 'Done.', errors: [], turns: 2, denials: [{ tool: 'Write', toolUseId: 'w' }] },
      usage: { inputTokens: 200, outputTokens: 6, cacheReadTokens: 0, cacheCreationTokens: 0 },
      modelUsage: { inputTokens: 300, outputTokens: 11, cacheReadTokens: 7, cacheCreationTokens: 0 },
      costUsd: 0.5, model: 'big', sessionId: 's',
    })
  })

  it('takes a result without is_error for an error', () => {
    expect(decode('{"type":"result","subtype":"success","result":"x"}')).toMatchObject({ result: { isError: true } })
  })

  it('cuts the middle of a long final text, so that the report at its end stays, and no character in two', () => {
    const text = `start ${'ä€😀'.repeat(20_000)} end`
    const record = decode(says.result({ text }))
    const cut = record.kind === 'result' ? record.result.text : ''
    expect({
      bounded: Buffer.byteLength(cut) <= MAX_RESULT_TEXT_BYTES, start: cut.startsWith('start ä'), end: cut.endsWith('😀 end'),
      whole: !cut.includes('\uFFFD'), said: /\n\[\d+ bytes, middle cut\]\n/.test(cut),
    }).toEqual({ bounded: true, start: true, end: true, whole: true, said: true })
  })
})

describe('an oversize line (F18)', () => {
  it.each<[string, string, ChildRecord]>([
    [
      'a tool result', `${says.toolResult('call_1').slice(0, 90)}${'x'.repeat(50)}`,
      { kind: 'oversize', type: 'user', toolIds: ['call_1'] },
    ],
    ['a tool call', says.toolUse('call_2', 'Write').slice(0, 140), { kind: 'oversize', type: 'assistant', toolIds: ['call_2'] }],
    ['a result', '{"type":"result","subtype":"success","result":"tool_use_id', { kind: 'oversize', type: 'result', toolIds: [] }],
    [
      'text that quotes an id', String.raw`{"type":"user","message":{"content":[{"type":"text","text":"{\"tool_use_id\":\"fake\"}"`,
      { kind: 'oversize', type: 'user', toolIds: [] },
    ],
    [
      'an id that is no call of the message', '{"type":"user","tool_use_result":{"tool_use_id":"fake","id":"x"},"x":',
      { kind: 'oversize', type: 'user', toolIds: [] },
    ],
    ['no record', 'x'.repeat(100), { kind: 'noise' }],
    ['JSON that is no record', '{"rows":[[1,2],[3,', { kind: 'noise' }],
    ['one string', '"type', { kind: 'noise' }],
  ])('tells type and tool ids of %s', (_, text, record) => {
    expect(decodeRecord({ text, oversize: true, bytes: 20_000_000 })).toEqual(record)
  })
})

describe('decodeStderrLine', () => {
  it('reads the heartbeat of json format, with fractions and unknown keys, as liveness', () => {
    expect([stderr('openclaude: heartbeat elapsed=16.5s quiet=16s state=running phase=in_turn session=x new=1 odd\r'), stderr('openclaude: heartbeat odd')]).toEqual([
      {
        kind: 'heartbeat', source: 'text', elapsedMs: 16_500, sinceLastActivityMs: 16_000, state: 'running', phase: 'in_turn',
        pendingPermissions: 0, backgroundTasks: 0,
      },
      {
        kind: 'heartbeat', source: 'text', elapsedMs: 0, sinceLastActivityMs: 0, state: '', phase: '', pendingPermissions: 0,
        backgroundTasks: 0,
      },
    ])
  })

  it.each(['', 'Error: heartbeat', 'note openclaude: heartbeat elapsed=1s', '{"type":"result"}'])('calls %j noise', text => {
    expect(stderr(text)).toEqual({ kind: 'noise' })
  })
})

describe('recorded output', () => {
  it('holds no line that is not understood, but for the control messages of the permission tool', () => {
    expect(kinds('hb-slow-stream-partial').filter(kind => kind === 'other' || kind === 'noise')).toEqual([])
    expect(readRecords('hb-permission-wait').filter(record => record.kind === 'other')).toEqual([{ kind: 'other', type: 'control_request' }])
    expect(kinds('hb-429-stream')).toEqual(['init', ...Array.from({ length: 10 }, () => 'api-retry'), 'assistant', 'result'])
  })

  it('of json format has its heartbeats on stderr', () => {
    const lines = readText('hb-slow-json', 'stderr.txt').trimEnd().split('\n')
    expect(new Set(lines.map(line => stderr(line).kind))).toEqual(new Set(['heartbeat']))
  })
})
