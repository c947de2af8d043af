/**
 * Lives of children and what the watchdog must make of each, in both directions: `null` = never ended, else the clock and the second it fires.
 * Times in seconds under the default clocks. Used by the unit test, and by `scripts/prove-guards.ts` with parts of the watchdog switched off.
 */
import { DEFAULT_WATCHDOG_SETTINGS, type WatchdogSettings } from '../../src/executor/watchdog-settings.ts'
import * as says from './child-lines.ts'
import { watch, type Firing, type Step, type Subject } from './watch.ts'

export interface Situation {
  readonly name: string
  readonly settings?: Partial<WatchdogSettings>
  readonly steps: readonly Step[]
  readonly exit: number
  readonly expect: { readonly clock: string, readonly at: number } | null
}

export function playSituation(subject: Subject, situation: Situation): Firing | null {
  return watch(subject, {
    settings: { ...DEFAULT_WATCHDOG_SETTINGS, ...situation.settings },
    steps: situation.steps.toSorted((a, b) => a.at - b.at),
    exitAt: situation.exit * 1000,
  })
}

/** The clock and second of a firing, to compare with `expect`. */
export function outcomeOf(fired: Firing | null): Situation['expect'] {
  return fired === null ? null : { clock: fired.clock, at: fired.at / 1000 }
}

const NEVER = 100_000

const at = (second: number, stdout: string): Step => ({ at: second * 1000, stdout })
const err = (second: number, stderr: string): Step => ({ at: second * 1000, stderr })
const big = (second: number, oversize: string): Step => ({ at: second * 1000, oversize })
const every = (from: number, to: number, period: number, step: (second: number) => Step): readonly Step[] =>
  Array.from({ length: Math.floor((to - from) / period) + 1 }, (_, index) => step(from + index * period))
/** Beats in quiet from `quietSince` on: the first one interval later, as the CLI does. */
const beats = (quietSince: number, to: number, fields: Parameters<typeof says.beat>[1] = {}): readonly Step[] =>
  every(quietSince + 30, to, 30, second => at(second, says.beat((second - quietSince) * 1000, fields)))
const cpu = (from: number, to: number, ticks: (second: number) => number | null, stopped = false): readonly Step[] =>
  every(from, to, 5, second => ({ at: second * 1000, observation: { kind: 'ticks', cpuTicks: ticks(second), stopped } }))
const rearm = (second: number): Step => ({ at: second * 1000, observation: { kind: 're-arm', why: 'suspended' } })

const STILL = (): number => 700
const BUSY = (second: number): number => 700 + second * 90

const bigResult = says.result({ text: 'x'.repeat(200) }).slice(0, 150)
const bigToolResult = (id: string): string => says.toolResult(id).replace('"done"', `"${'x'.repeat(500)}`).slice(0, 300)
const bigToolUse = (id: string): string => says.toolUse(id, 'Write').replace('"input":{}', `"input":{"content":"${'x'.repeat(500)}`).slice(0, 300)

const START: readonly Situation[] = [
  { name: 'a child that writes nothing at all is ended by the first-event clock (T6)', steps: [], exit: NEVER, expect: { clock: 'first-event', at: 120 } },
  { name: 'heartbeats before the first record don\'t stop the first-event clock', steps: [...beats(3, 600, { phase: 'connecting_mcp' })], exit: NEVER, expect: { clock: 'first-event', at: 120 } },
  {
    name: 'noise is no first record',
    steps: every(1, 600, 1, second => at(second, ['npm warn old lockfile', '{"level":"info"}', '[1,2]', '{broken', ''][second % 5] ?? '')),
    exit: NEVER, expect: { clock: 'first-event', at: 120 },
  },
  { name: 'a slow start of 110 s is not a stall', steps: [at(110, says.init()), at(115, says.said('hi')), at(116, says.result())], exit: 117, expect: null },
  {
    name: 'a late first heartbeat is load, not a dead event loop',
    steps: [at(5, says.init()), at(140, says.beat(135_000)), at(160, says.said('hi')), at(161, says.result()), ...cpu(0, 160, STILL)],
    exit: 162, expect: null,
  },
]

const MODEL: readonly Situation[] = [
  {
    name: 'one tool event, then only heartbeats with growing quiet time: a stall at the idle limit (T1)',
    steps: [at(5, says.init()), at(8, says.toolUse('a', 'Bash')), at(10, says.toolResult('a')), ...beats(10, 900)],
    exit: NEVER, expect: { clock: 'idle', at: 250 },
  },
  {
    name: 'bytes that are no records don\'t hide a stall (R-104)',
    steps: [at(5, says.init()), ...every(6, 900, 2, second => at(second, `working… ${String(second)}`)), ...every(7, 900, 2, second => err(second, 'warn: still here'))],
    exit: NEVER, expect: { clock: 'idle', at: 245 },
  },
  {
    name: 'silence for 0.9 of the idle limit, then a result and a prompt exit, is healthy (T3)',
    steps: [at(2, says.init()), ...beats(2, 215), at(218, says.said('hi')), at(218, says.result())],
    exit: 218.5, expect: null,
  },
  { name: 'a slow stream with partial messages is healthy', steps: [at(5, says.init()), ...every(100, 3000, 100, second => at(second, says.token())), at(3001, says.result())], exit: 3002, expect: null },
  { name: 'a slow stream without partial messages is healthy up to the idle limit', steps: [at(5, says.init()), ...beats(5, 240), at(244, says.said('all of it')), at(245, says.result())], exit: 246, expect: null },
  { name: 'a stream that stops in the middle is a stall', steps: [at(5, says.init()), ...every(6, 60, 1, second => at(second, says.token())), ...beats(60, 900)], exit: NEVER, expect: { clock: 'idle', at: 300 } },
  { name: 'the model server\'s pings are not progress', steps: [at(5, says.init()), ...every(10, 900, 10, second => at(second, says.ping()))], exit: NEVER, expect: { clock: 'idle', at: 245 } },
  {
    name: 'records of unknown types are progress (R-64)',
    steps: [at(5, says.init()), at(200, says.unknown('status')), at(400, says.unknown('compact_boundary')), at(600, '{"type":"rate_limit_event"}'), at(800, says.said('hi')), at(801, says.result())],
    exit: 802, expect: null,
  },
  { name: 'an idle limit of 0 is off', settings: { idleTimeoutMs: 0 }, steps: [at(5, says.init()), ...beats(5, 3000), at(3001, says.said('hi')), at(3002, says.result())], exit: 3003, expect: null },
  {
    name: 'the child\'s own clock above the idle limit ends it on that line (R-65)',
    steps: [at(5, says.init()), at(60, says.token()), at(90, says.beat(250_000))],
    exit: NEVER, expect: { clock: 'idle', at: 90 },
  },
  {
    name: 'the quiet time of the stderr heartbeat is never a stall proof',
    steps: [at(5, says.init()), ...every(35, 215, 30, second => err(second, says.textBeat(second * 3))), at(220, says.said('hi')), at(221, says.result())],
    exit: 222, expect: null,
  },
]

const RETRIES: readonly Situation[] = [
  {
    name: 'retries with growing delays are healthy',
    steps: [at(5, says.init()), at(10, says.retry(571.06)), at(12, says.retry(2_000)), at(20, says.retry(40_000)), at(70, says.retry(120_000)), ...beats(70, 200), at(330, says.said('hi')), at(331, says.result())],
    exit: 332, expect: null,
  },
  { name: 'an announced delay longer than the idle limit is waited for', steps: [at(5, says.init()), at(10, says.retry(600_000)), ...beats(10, 600), at(620, says.said('hi')), at(621, says.result())], exit: 622, expect: null },
  { name: 'no answer after the announced delay is a stall', steps: [at(5, says.init()), at(10, says.retry(600_000)), ...beats(10, 2000)], exit: NEVER, expect: { clock: 'retry-wait', at: 850 } },
  { name: 'silence after a retry that got through runs on the idle clock again', steps: [at(5, says.init()), at(10, says.retry(600_000)), at(20, says.token()), ...beats(20, 900)], exit: NEVER, expect: { clock: 'idle', at: 260 } },
  {
    name: 'the child\'s own clock doesn\'t count while a retry waits',
    steps: [at(5, says.init()), at(10, says.retry(300_000)), at(100, says.beat(290_000)), at(320, says.said('hi')), at(321, says.result())],
    exit: 322, expect: null,
  },
  {
    name: 'a retry announced while a helper works adds its delay to the helper\'s limit',
    steps: [at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(20, says.retry(900_000)), ...beats(20, 1500), at(1500, says.toolResult('g')), at(1501, says.result())],
    exit: 1502, expect: null,
  },
]

const TOOLS: readonly Situation[] = [
  { name: 'a quiet Bash call of 9 minutes is healthy', steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...beats(10, 550), at(550, says.toolResult('a')), at(551, says.result())], exit: 552, expect: null },
  { name: 'a tool that never ends is a stall at the tool limit', steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...beats(10, 3000)], exit: NEVER, expect: { clock: 'tool', at: 670 } },
  { name: 'the child\'s own clock doesn\'t count while a tool is open', steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(40, says.beat(300_000)), at(400, says.toolResult('a')), at(401, says.result())], exit: 402, expect: null },
  {
    name: 'a tool that reports progress may run past the limit',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...every(40, 1500, 30, second => at(second, says.toolProgress('a'))), at(1510, says.toolResult('a')), at(1511, says.result())],
    exit: 1512, expect: null,
  },
  {
    name: 'tool progress in the form of Claude Code counts too',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...every(40, 1500, 30, second => at(second, says.toolProgressOfClaude('a'))), at(1510, says.toolResult('a')), at(1511, says.result())],
    exit: 1512, expect: null,
  },
  { name: 'a tool whose progress stops is a stall', steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(100, says.toolProgress('a')), ...beats(100, 3000)], exit: NEVER, expect: { clock: 'tool', at: 760 } },
  {
    name: 'two calls announced together may run one after the other',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(10.1, says.toolUse('b', 'Bash')), at(560, says.toolResult('a')), at(1110, says.toolResult('b')), at(1111, says.result())],
    exit: 1112, expect: null,
  },
  {
    name: 'of two parallel calls one ends and one hangs: a stall',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(10.1, says.toolUse('b', 'Bash')), at(60, says.toolResult('a')), ...beats(60, 3000)],
    exit: NEVER, expect: { clock: 'tool', at: 720 },
  },
  { name: 'after the last tool result the model is owed again', steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(300, says.toolResult('a')), ...beats(300, 3000)], exit: NEVER, expect: { clock: 'idle', at: 540 } },
  { name: 'an oversize tool result closes the call it names (F18)', steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), big(20, bigToolResult('a')), ...beats(20, 3000)], exit: NEVER, expect: { clock: 'idle', at: 260 } },
  { name: 'an oversize tool call opens the call it names (F18)', steps: [at(5, says.init()), big(10, bigToolUse('w')), ...beats(10, 500), at(500, says.toolResult('w')), at(501, says.result())], exit: 502, expect: null },
]

const HELPERS: readonly Situation[] = [
  {
    name: 'progress of a command that moved to the background doesn\'t hide that the main conversation hangs',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(11, says.taskStarted('t', 'a')), at(12, says.toolResult('a')), ...every(20, 3000, 30, second => at(second, says.toolProgress('a')))],
    exit: NEVER, expect: { clock: 'idle', at: 252 },
  },
  {
    name: 'a helper with a slow stream is quiet for 18 minutes and healthy',
    steps: [at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(11, says.taskStarted('t', 'g')), ...beats(11, 1090), at(1091, says.taskEnded('t', 'g')), at(1091, says.toolResult('g')), at(1092, says.result())],
    exit: 1093, expect: null,
  },
  {
    name: 'a helper\'s own calls keep it alive',
    steps: [at(5, says.init()), at(10, says.toolUse('g', 'Task')), ...every(900, 2700, 900, second => at(second, says.toolUse(`n${String(second)}`, 'Bash', 'g'))), at(3500, says.toolResult('g')), at(3501, says.result())],
    exit: 3502, expect: null,
  },
  {
    name: 'a helper that hangs is a stall at its own limit',
    steps: [at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(100, says.toolUse('n', 'Bash', 'g')), at(110, says.toolResult('n', 'g')), ...beats(110, 3000)],
    exit: NEVER, expect: { clock: 'agent-tool', at: 1310 },
  },
  {
    name: 'a helper\'s quiet Bash call of 15 minutes is healthy',
    steps: [at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(20, says.toolUse('n', 'Bash', 'g')), ...beats(20, 920), at(920, says.toolResult('n', 'g')), at(930, says.toolResult('g')), at(931, says.result())],
    exit: 932, expect: null,
  },
  {
    name: 'a helper of a helper keeps both alive',
    steps: [at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(20, says.toolUse('h', 'Agent', 'g')), at(1100, says.toolUse('n', 'Bash', 'h')), at(2200, says.toolResult('n', 'h')), at(3300, says.toolResult('g')), at(3301, says.result())],
    exit: 3302, expect: null,
  },
  {
    name: 'a Bash call beside a helper is given the helper\'s limit',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(10.1, says.toolUse('g', 'Agent')), ...beats(10, 1100), at(1100, says.toolResult('g')), at(1101, says.toolResult('a')), at(1102, says.result())],
    exit: 1103, expect: null,
  },
  {
    name: 'what a helper does in the background doesn\'t hide that the main conversation hangs',
    steps: [at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(11, says.taskStarted('t', 'g')), at(12, says.toolResult('g')), ...every(20, 3000, 20, second => at(second, says.toolUse(`n${String(second)}`, 'Bash', 'g')))],
    exit: NEVER, expect: { clock: 'idle', at: 252 },
  },
  {
    name: 'what a helper does in the background doesn\'t feed a helper in the foreground',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(11, says.taskStarted('t', 'g')), at(12, says.toolResult('g')), at(13, says.toolUse('h', 'Agent')),
      ...every(20, 3000, 20, second => at(second, says.taskProgress('t', 'g'))),
    ],
    exit: NEVER, expect: { clock: 'agent-tool', at: 1213 },
  },
  {
    name: 'records under a parent that was never seen are progress',
    steps: [at(5, says.init()), ...every(200, 1000, 200, second => at(second, says.said('x', 'nobody'))), at(1100, says.said('hi')), at(1101, says.result())],
    exit: 1102, expect: null,
  },
]

const PERMISSION: readonly Situation[] = [
  { name: 'a pending permission question ends the child at once (T5)', steps: [at(5, says.init()), at(6, says.toolUse('a', 'Write')), at(36, says.beat(30_000, { state: 'requires_action', phase: 'waiting_for_permission', pending: 1 }))], exit: NEVER, expect: { clock: 'requires-action', at: 36 } },
  {
    name: 'waiting for agents is no permission question (T5)',
    steps: [at(5, says.init()), at(6, says.said('hi')), at(7, says.result()), ...every(20, 200, 20, second => at(second, says.beat((second - 7) * 1000, { phase: 'waiting_for_agents', background: 1 })))],
    exit: 210, expect: null,
  },
  {
    name: 'a permission phase left behind by an answered question is no question (T5)',
    steps: [at(5, says.init()), at(6, says.toolUse('a', 'Bash')), ...beats(6, 400, { phase: 'waiting_for_permission' }), at(400, says.toolResult('a')), at(401, says.result())],
    exit: 402, expect: null,
  },
  { name: 'requires_action with nothing pending is no question', steps: [at(5, says.init()), at(36, says.beat(30_000, { state: 'requires_action', pending: 0 })), at(60, says.said('hi')), at(61, says.result())], exit: 62, expect: null },
]

const AFTER_RESULT: readonly Situation[] = [
  { name: 'a result followed by a hanging exit is settled after 30 s', steps: [at(5, says.init()), at(10, says.said('hi')), at(11, says.result()), ...beats(11, 900, { state: 'idle', phase: 'flushing' })], exit: NEVER, expect: { clock: 'settle', at: 41 } },
  { name: 'a result followed by a slow exit is healthy', steps: [at(5, says.init()), at(11, says.result())], exit: 36, expect: null },
  { name: 'an oversize result is a result (F18)', steps: [at(5, says.init()), big(11, bigResult)], exit: NEVER, expect: { clock: 'settle', at: 41 } },
  { name: 'a call left open by a turn that ended is not waited for', steps: [at(5, says.init()), at(9, says.toolUse('a', 'Bash')), at(11, says.result({ subtype: 'error_max_turns', isError: true }))], exit: NEVER, expect: { clock: 'settle', at: 41 } },
  {
    name: 'a background command after the result is waited for, and the woken turn goes on',
    steps: [
      at(5, says.init()), at(8, says.toolUse('a', 'Bash')), at(9, says.taskStarted('t', 'a')), at(9, says.toolResult('a')), at(11, says.result()), ...beats(11, 300, { phase: 'waiting_for_agents', background: 1 }),
      at(310, says.taskEnded('t', 'a')), at(310, says.init()), at(500, says.said('hi')), at(501, says.result()),
    ],
    exit: 505, expect: null,
  },
  {
    name: 'a background task is known before the first heartbeat tells of it',
    steps: [at(5, says.init()), at(8, says.toolUse('a', 'Bash')), at(9, says.taskStarted('t', 'a')), at(9, says.toolResult('a')), at(11, says.result()), at(70, says.taskEnded('t', 'a')), at(71, says.init()), at(72, says.result())],
    exit: 73, expect: null,
  },
  { name: 'a background task known only from a heartbeat is waited for', steps: [at(5, says.init()), at(11, says.result()), at(40, says.beat(29_000, { background: 1 }))], exit: 600, expect: null },
  {
    name: 'a background task that never ends is given its limit',
    steps: [at(5, says.init()), at(8, says.toolUse('a', 'Bash')), at(9, says.taskStarted('t', 'a')), at(9, says.toolResult('a')), at(11, says.result()), ...beats(11, 3000, { background: 1 })],
    exit: NEVER, expect: { clock: 'background', at: 611 },
  },
  {
    name: 'when the background is empty and nothing follows, the child is settled',
    steps: [at(5, says.init()), at(11, says.result()), at(40, says.beat(29_000, { background: 1 })), at(300, says.beat(289_000)), ...beats(300, 900)],
    exit: NEVER, expect: { clock: 'settle', at: 330 },
  },
  { name: 'a woken turn whose model hangs is a stall, not a settled result', steps: [at(5, says.init()), at(11, says.result()), at(20, says.init()), ...beats(20, 900)], exit: NEVER, expect: { clock: 'idle', at: 260 } },
  {
    name: 'the child\'s own clock doesn\'t count while a background task runs',
    steps: [at(5, says.init()), at(60, says.token()), at(100, says.beat(300_000, { background: 1 })), at(280, says.said('hi')), at(281, says.result()), at(282, says.beat(0))],
    exit: 300, expect: null,
  },
]

const PROCESS: readonly Situation[] = [
  { name: 'no heartbeat for three intervals and no CPU time: the event loop is dead', steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 900, STILL)], exit: NEVER, expect: { clock: 'event-loop', at: 155 } },
  { name: 'CPU time that is looked at only once a beat is missing is enough', steps: [at(5, says.init()), ...beats(5, 65), ...cpu(95, 900, STILL)], exit: NEVER, expect: { clock: 'event-loop', at: 155 } },
  { name: 'no heartbeat but CPU time: busy, not dead', steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 230, BUSY), at(230, says.said('hi')), at(231, says.result())], exit: 232, expect: null },
  { name: 'the event-loop window starts when the CPU time stops', steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 900, second => BUSY(Math.min(second, 120)))], exit: NEVER, expect: { clock: 'event-loop', at: 180 } },
  { name: 'where CPU time can\'t be read, missing heartbeats prove nothing', steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 230, () => null), at(230, says.said('hi')), at(231, says.result())], exit: 232, expect: null },
  { name: 'an old reading of the CPU time proves nothing', steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 80, STILL), at(230, says.said('hi')), at(231, says.result())], exit: 232, expect: null },
  { name: 'without a heartbeat the event-loop clock is off', settings: { heartbeatMs: null }, steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 900, STILL)], exit: NEVER, expect: { clock: 'idle', at: 245 } },
  {
    name: 'records take the place of heartbeats',
    steps: [at(5, says.init()), ...beats(5, 35), ...every(40, 600, 20, second => at(second, says.token())), ...cpu(0, 600, STILL), at(601, says.result())],
    exit: 602, expect: null,
  },
  { name: 'a dead event loop is found while a tool is open', steps: [at(5, says.init()), at(6, says.toolUse('a', 'Bash')), ...beats(6, 66), ...cpu(0, 900, STILL)], exit: NEVER, expect: { clock: 'event-loop', at: 156 } },
  { name: 'a child stopped by a signal is given the idle limit (F13)', steps: [at(5, says.init()), ...beats(5, 65), ...cpu(70, 900, STILL, true)], exit: NEVER, expect: { clock: 'idle', at: 245 } },
  {
    name: 'after a result missing heartbeats are no dead event loop',
    steps: [at(5, says.init()), at(6, says.toolUse('a', 'Bash')), at(6, says.taskStarted('t', 'a')), at(6, says.toolResult('a')), ...beats(6, 36, { background: 1 }), at(40, says.result()), ...cpu(0, 500, STILL)],
    exit: 500, expect: null,
  },
  {
    name: 'sleep of the machine starts every window anew (F12)',
    steps: [at(5, says.init()), ...beats(5, 200), rearm(240), at(470, says.said('hi')), at(471, says.result())],
    exit: 472, expect: null,
  },
  {
    name: 'after sleep the child\'s own clock proves nothing',
    steps: [at(5, says.init()), rearm(200), at(230, says.beat(10_900_000)), at(400, says.said('hi')), at(401, says.result())],
    exit: 402, expect: null,
  },
  { name: 'a hang that outlasts the sleep is found one window later', steps: [at(5, says.init()), rearm(200), ...beats(200, 900)], exit: NEVER, expect: { clock: 'idle', at: 440 } },
  { name: 'activity without end is ended by the run-time bound (R-104)', steps: [at(5, says.init()), ...every(10, 5000, 10, second => at(second, says.token()))], exit: NEVER, expect: { clock: 'max-runtime', at: 3600 } },
  { name: 'the run-time bound holds through sleep', steps: [at(5, says.init()), ...every(10, 5000, 10, second => at(second, says.token())), rearm(3000)], exit: NEVER, expect: { clock: 'max-runtime', at: 3600 } },
  { name: 'a run-time bound of 0 is off', settings: { maxRuntimeMs: 0 }, steps: [at(5, says.init()), ...every(10, 9000, 10, second => at(second, says.token())), at(9001, says.result())], exit: 9002, expect: null },
]

export const SITUATIONS: readonly Situation[] = [...START, ...MODEL, ...RETRIES, ...TOOLS, ...HELPERS, ...PERMISSION, ...AFTER_RESULT, ...PROCESS]
