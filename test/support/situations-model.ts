/** Before the first record, while the model is owed an answer, while a retry waits, while a permission is asked for. */
import * as says from './child-lines.ts'
import { at, beats, cpu, err, every, NEVER, STILL, type Situation } from './situation.ts'

export const START: readonly Situation[] = [
  {
    name: 'a child that writes nothing at all is ended by the first-event clock (T6)',
    steps: [], exit: NEVER, expect: { clock: 'first-event', at: 120 },
  },
  {
    name: 'heartbeats before the first record don\'t stop the first-event clock',
    steps: [...beats(3, 600, { phase: 'connecting_mcp' })], exit: NEVER, expect: { clock: 'first-event', at: 120 },
  },
  {
    name: 'noise is no first record',
    steps: every(1, 600, 1, second => at(second, ['npm warn old lockfile', '{"level":"info"}', '[1,2]', '{broken', ''][second % 5] ?? '')),
    exit: NEVER, expect: { clock: 'first-event', at: 120 },
  },
  {
    name: 'a slow start of 110 s is not a stall',
    steps: [at(110, says.init()), at(115, says.said('hi')), at(116, says.result())],
    exit: 117, expect: null,
  },
  {
    name: 'a late first heartbeat is load, not a dead event loop',
    steps: [at(5, says.init()), at(140, says.beat(135_000)), at(160, says.said('hi')), at(161, says.result()), ...cpu(0, 160, STILL)],
    exit: 162, expect: null,
  },
]

export const MODEL: readonly Situation[] = [
  {
    name: 'one tool event, then only heartbeats with growing quiet time: a stall at the idle limit (T1)',
    steps: [at(5, says.init()), at(8, says.toolUse('a', 'Bash')), at(10, says.toolResult('a')), ...beats(10, 900)],
    exit: NEVER, expect: { clock: 'idle', at: 250 },
  },
  {
    name: 'bytes that are no records don\'t hide a stall (R-104)',
    steps: [
      at(5, says.init()), ...every(6, 900, 2, second => at(second, `working… ${String(second)}`)),
      ...every(7, 900, 2, second => err(second, 'warn: still here')),
    ],
    exit: NEVER, expect: { clock: 'idle', at: 245 },
  },
  {
    name: 'silence for 0.9 of the idle limit, then a result and a prompt exit, is healthy (T3)',
    steps: [at(2, says.init()), ...beats(2, 215), at(218, says.said('hi')), at(218, says.result())],
    exit: 218.5, expect: null,
  },
  {
    name: 'a slow stream with partial messages is healthy',
    steps: [at(5, says.init()), ...every(100, 3000, 100, second => at(second, says.token())), at(3001, says.result())],
    exit: 3002, expect: null,
  },
  {
    name: 'a slow stream without partial messages is healthy up to the idle limit',
    steps: [at(5, says.init()), ...beats(5, 240), at(244, says.said('all of it')), at(245, says.result())],
    exit: 246, expect: null,
  },
  {
    name: 'a stream that stops in the middle is a stall',
    steps: [at(5, says.init()), ...every(6, 60, 1, second => at(second, says.token())), ...beats(60, 900)],
    exit: NEVER, expect: { clock: 'idle', at: 300 },
  },
  {
    name: 'the model server\'s pings are not progress',
    steps: [at(5, says.init()), ...every(10, 900, 10, second => at(second, says.ping()))],
    exit: NEVER, expect: { clock: 'idle', at: 245 },
  },
  {
    name: 'records of unknown types are progress (R-64)',
    steps: [
      at(5, says.init()), at(200, says.unknown('status')), at(400, says.unknown('compact_boundary')),
      at(600, '{"type":"rate_limit_event"}'), at(800, says.said('hi')), at(801, says.result()),
    ],
    exit: 802, expect: null,
  },
  {
    name: 'an idle limit of 0 is off', settings: { idleTimeoutMs: 0 },
    steps: [at(5, says.init()), ...beats(5, 3000), at(3001, says.said('hi')), at(3002, says.result())],
    exit: 3003, expect: null,
  },
  {
    name: 'the child\'s own clock above the idle limit ends it on that line (R-65)',
    steps: [at(5, says.init()), at(60, says.token()), at(90, says.beat(250_000))],
    exit: NEVER, expect: { clock: 'idle', at: 90 },
  },
  {
    name: 'the quiet time of the stderr heartbeat is never a stall proof',
    steps: [
      at(5, says.init()), ...every(35, 215, 30, second => err(second, says.textBeat(second * 3))), at(220, says.said('hi')),
      at(221, says.result()),
    ],
    exit: 222, expect: null,
  },
]

export const RETRIES: readonly Situation[] = [
  {
    name: 'retries with growing delays are healthy',
    steps: [
      at(5, says.init()), at(10, says.retry(571.06)), at(12, says.retry(2_000)), at(20, says.retry(40_000)), at(70, says.retry(120_000)),
      ...beats(70, 200), at(330, says.said('hi')), at(331, says.result()),
    ],
    exit: 332, expect: null,
  },
  {
    name: 'an announced delay longer than the idle limit is waited for',
    steps: [at(5, says.init()), at(10, says.retry(600_000)), ...beats(10, 600), at(620, says.said('hi')), at(621, says.result())],
    exit: 622, expect: null,
  },
  {
    name: 'no answer after the announced delay is a stall',
    steps: [at(5, says.init()), at(10, says.retry(600_000)), ...beats(10, 2000)],
    exit: NEVER, expect: { clock: 'retry-wait', at: 850 },
  },
  {
    name: 'silence after a retry that got through runs on the idle clock again',
    steps: [at(5, says.init()), at(10, says.retry(600_000)), at(20, says.token()), ...beats(20, 900)],
    exit: NEVER, expect: { clock: 'idle', at: 260 },
  },
  {
    name: 'the child\'s own clock doesn\'t count while a retry waits',
    steps: [at(5, says.init()), at(10, says.retry(300_000)), at(100, says.beat(290_000)), at(320, says.said('hi')), at(321, says.result())],
    exit: 322, expect: null,
  },
  {
    name: 'a retry announced while a helper works adds its delay to the helper\'s limit',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(20, says.retry(900_000)), ...beats(20, 1500),
      at(1500, says.toolResult('g')), at(1501, says.result()),
    ],
    exit: 1502, expect: null,
  },
]

export const PERMISSION: readonly Situation[] = [
  {
    name: 'a pending permission question ends the child at once (T5)',
    steps: [
      at(5, says.init()), at(6, says.toolUse('a', 'Write')),
      at(36, says.beat(30_000, { state: 'requires_action', phase: 'waiting_for_permission', pending: 1 })),
    ],
    exit: NEVER, expect: { clock: 'requires-action', at: 36 },
  },
  {
    name: 'waiting for agents is no permission question (T5)',
    steps: [
      at(5, says.init()), at(6, says.said('hi')), at(7, says.result()),
      ...every(20, 200, 20, second => at(second, says.beat((second - 7) * 1000, { phase: 'waiting_for_agents', background: 1 }))),
    ],
    exit: 210, expect: null,
  },
  {
    name: 'a permission phase left behind by an answered question is no question (T5)',
    steps: [
      at(5, says.init()), at(6, says.toolUse('a', 'Bash')), ...beats(6, 400, { phase: 'waiting_for_permission' }),
      at(400, says.toolResult('a')), at(401, says.result()),
    ],
    exit: 402, expect: null,
  },
  {
    name: 'requires_action with nothing pending is no question',
    steps: [
      at(5, says.init()), at(36, says.beat(30_000, { state: 'requires_action', pending: 0 })), at(60, says.said('hi')),
      at(61, says.result()),
    ],
    exit: 62, expect: null,
  },
]
