/** After a result, and what only the process tells: heartbeats, CPU time, signals, sleep, run time. */
import * as says from './child-lines.ts'
import { at, beats, big, BUSY, cpu, every, NEVER, rearm, STILL, type Situation } from './situation.ts'

const bigResult = says.result({ text: 'x'.repeat(200) }).slice(0, 150)

export const AFTER_RESULT: readonly Situation[] = [
  {
    name: 'a result followed by a hanging exit is settled after 30 s',
    steps: [at(5, says.init()), at(10, says.said('hi')), at(11, says.result()), ...beats(11, 900, { state: 'idle', phase: 'flushing' })],
    exit: NEVER, expect: { clock: 'settle', at: 41 },
  },
  { name: 'a result followed by a slow exit is healthy', steps: [at(5, says.init()), at(11, says.result())], exit: 36, expect: null },
  {
    name: 'an oversize result is a result (F18)', steps: [at(5, says.init()), big(11, bigResult)], exit: NEVER,
    expect: { clock: 'settle', at: 41 },
  },
  {
    name: 'a call left open by a turn that ended is not waited for',
    steps: [at(5, says.init()), at(9, says.toolUse('a', 'Bash')), at(11, says.result({ subtype: 'error_max_turns', isError: true }))],
    exit: NEVER, expect: { clock: 'settle', at: 41 },
  },
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
    steps: [
      at(5, says.init()), at(8, says.toolUse('a', 'Bash')), at(9, says.taskStarted('t', 'a')), at(9, says.toolResult('a')),
      at(11, says.result()), at(70, says.taskEnded('t', 'a')), at(71, says.init()), at(72, says.result()),
    ],
    exit: 73, expect: null,
  },
  {
    name: 'a background task known only from a heartbeat is waited for',
    steps: [at(5, says.init()), at(11, says.result()), at(40, says.beat(29_000, { background: 1 }))],
    exit: 600, expect: null,
  },
  {
    name: 'a background task that never ends is given its limit',
    steps: [
      at(5, says.init()), at(8, says.toolUse('a', 'Bash')), at(9, says.taskStarted('t', 'a')), at(9, says.toolResult('a')),
      at(11, says.result()), ...beats(11, 3000, { background: 1 }),
    ],
    exit: NEVER, expect: { clock: 'background', at: 611 },
  },
  {
    name: 'when the background is empty and nothing follows, the child is settled',
    steps: [
      at(5, says.init()), at(11, says.result()), at(40, says.beat(29_000, { background: 1 })), at(300, says.beat(289_000)),
      ...beats(300, 900),
    ],
    exit: NEVER, expect: { clock: 'settle', at: 330 },
  },
  {
    name: 'a woken turn whose model hangs is a stall, not a settled result',
    steps: [at(5, says.init()), at(11, says.result()), at(20, says.init()), ...beats(20, 900)],
    exit: NEVER, expect: { clock: 'idle', at: 260 },
  },
  {
    name: 'the child\'s own clock doesn\'t count while a background task runs',
    steps: [
      at(5, says.init()), at(60, says.token()), at(100, says.beat(300_000, { background: 1 })), at(280, says.said('hi')),
      at(281, says.result()), at(282, says.beat(0)),
    ],
    exit: 300, expect: null,
  },
]

export const PROCESS: readonly Situation[] = [
  {
    name: 'no heartbeat for three intervals and no CPU time: the event loop is dead',
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 900, STILL)],
    exit: NEVER, expect: { clock: 'event-loop', at: 155 },
  },
  {
    name: 'CPU time that is looked at only once a beat is missing is enough',
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(95, 900, STILL)],
    exit: NEVER, expect: { clock: 'event-loop', at: 155 },
  },
  {
    name: 'no heartbeat but CPU time: busy, not dead',
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 230, BUSY), at(230, says.said('hi')), at(231, says.result())],
    exit: 232, expect: null,
  },
  {
    name: 'the event-loop window starts when the CPU time stops',
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 900, second => BUSY(Math.min(second, 120)))],
    exit: NEVER, expect: { clock: 'event-loop', at: 180 },
  },
  {
    name: 'where CPU time can\'t be read, missing heartbeats prove nothing',
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 230, () => null), at(230, says.said('hi')), at(231, says.result())],
    exit: 232, expect: null,
  },
  {
    name: 'an old reading of the CPU time proves nothing',
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 80, STILL), at(230, says.said('hi')), at(231, says.result())],
    exit: 232, expect: null,
  },
  {
    name: 'without a heartbeat the event-loop clock is off', settings: { heartbeatMs: null },
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(0, 900, STILL)],
    exit: NEVER, expect: { clock: 'idle', at: 245 },
  },
  {
    name: 'records take the place of heartbeats',
    steps: [
      at(5, says.init()), ...beats(5, 35), ...every(40, 600, 20, second => at(second, says.token())), ...cpu(0, 600, STILL),
      at(601, says.result()),
    ],
    exit: 602, expect: null,
  },
  {
    name: 'a dead event loop is found while a tool is open',
    steps: [at(5, says.init()), at(6, says.toolUse('a', 'Bash')), ...beats(6, 66), ...cpu(0, 900, STILL)],
    exit: NEVER, expect: { clock: 'event-loop', at: 156 },
  },
  {
    name: 'a child stopped by a signal is given the idle limit (F13)',
    steps: [at(5, says.init()), ...beats(5, 65), ...cpu(70, 900, STILL, true)],
    exit: NEVER, expect: { clock: 'idle', at: 245 },
  },
  {
    name: 'after a result missing heartbeats are no dead event loop',
    steps: [
      at(5, says.init()), at(6, says.toolUse('a', 'Bash')), at(6, says.taskStarted('t', 'a')), at(6, says.toolResult('a')),
      ...beats(6, 36, { background: 1 }), at(40, says.result()), ...cpu(0, 500, STILL),
    ],
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
  {
    name: 'a hang that outlasts the sleep is found one window later',
    steps: [at(5, says.init()), rearm(200), ...beats(200, 900)], exit: NEVER, expect: { clock: 'idle', at: 440 },
  },
  {
    name: 'activity without end is ended by the run-time bound (R-104)',
    steps: [at(5, says.init()), ...every(10, 5000, 10, second => at(second, says.token()))],
    exit: NEVER, expect: { clock: 'max-runtime', at: 3600 },
  },
  {
    name: 'the run-time bound holds through sleep',
    steps: [at(5, says.init()), ...every(10, 5000, 10, second => at(second, says.token())), rearm(3000)],
    exit: NEVER, expect: { clock: 'max-runtime', at: 3600 },
  },
  {
    name: 'a run-time bound of 0 is off', settings: { maxRuntimeMs: 0 },
    steps: [at(5, says.init()), ...every(10, 9000, 10, second => at(second, says.token())), at(9001, says.result())],
    exit: 9002, expect: null,
  },
]
