/** While tools run, and while helpers work. */
import * as says from './child-lines.ts'
import { at, beats, big, every, NEVER, type Situation } from './situation.ts'

const bigToolResult = (id: string): string => says.toolResult(id).replace('"done"', `"${'x'.repeat(500)}`).slice(0, 300)
const bigToolUse = (id: string): string => says.toolUse(id, 'Write').replace('"input":{}', `"input":{"content":"${'x'.repeat(500)}`).slice(0, 300)

export const TOOLS: readonly Situation[] = [
  {
    name: 'a quiet Bash call of 9 minutes is healthy',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...beats(10, 550), at(550, says.toolResult('a')), at(551, says.result()),
    ],
    exit: 552, expect: null,
  },
  {
    name: 'a tool that never ends is a stall at the tool limit',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...beats(10, 3000)],
    exit: NEVER, expect: { clock: 'tool', at: 670 },
  },
  {
    name: 'the child\'s own clock doesn\'t count while a tool is open',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(40, says.beat(300_000)), at(400, says.toolResult('a')),
      at(401, says.result()),
    ],
    exit: 402, expect: null,
  },
  {
    name: 'a tool that reports progress may run past the limit',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...every(40, 1500, 30, second => at(second, says.toolProgress('a'))),
      at(1510, says.toolResult('a')), at(1511, says.result()),
    ],
    exit: 1512, expect: null,
  },
  {
    name: 'tool progress in the form of Claude Code counts too',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), ...every(40, 1500, 30, second => at(second, says.toolProgressOfClaude('a'))),
      at(1510, says.toolResult('a')), at(1511, says.result()),
    ],
    exit: 1512, expect: null,
  },
  {
    name: 'a tool whose progress stops is a stall',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(100, says.toolProgress('a')), ...beats(100, 3000)],
    exit: NEVER, expect: { clock: 'tool', at: 760 },
  },
  {
    name: 'two calls announced together may run one after the other',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(10.1, says.toolUse('b', 'Bash')), at(560, says.toolResult('a')),
      at(1110, says.toolResult('b')), at(1111, says.result()),
    ],
    exit: 1112, expect: null,
  },
  {
    name: 'of two parallel calls one ends and one hangs: a stall',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(10.1, says.toolUse('b', 'Bash')), at(60, says.toolResult('a')),
      ...beats(60, 3000),
    ],
    exit: NEVER, expect: { clock: 'tool', at: 720 },
  },
  {
    name: 'after the last tool result the model is owed again',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(300, says.toolResult('a')), ...beats(300, 3000)],
    exit: NEVER, expect: { clock: 'idle', at: 540 },
  },
  {
    name: 'an oversize tool result closes the call it names (F18)',
    steps: [at(5, says.init()), at(10, says.toolUse('a', 'Bash')), big(20, bigToolResult('a')), ...beats(20, 3000)],
    exit: NEVER, expect: { clock: 'idle', at: 260 },
  },
  {
    name: 'an oversize tool call opens the call it names (F18)',
    steps: [at(5, says.init()), big(10, bigToolUse('w')), ...beats(10, 500), at(500, says.toolResult('w')), at(501, says.result())],
    exit: 502, expect: null,
  },
]

export const HELPERS: readonly Situation[] = [
  {
    name: 'progress of a command that moved to the background doesn\'t hide that the main conversation hangs',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(11, says.taskStarted('t', 'a')), at(12, says.toolResult('a')),
      ...every(20, 3000, 30, second => at(second, says.toolProgress('a'))),
    ],
    exit: NEVER, expect: { clock: 'idle', at: 252 },
  },
  {
    name: 'a helper with a slow stream is quiet for 18 minutes and healthy',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(11, says.taskStarted('t', 'g')), ...beats(11, 1090),
      at(1091, says.taskEnded('t', 'g')), at(1091, says.toolResult('g')), at(1092, says.result()),
    ],
    exit: 1093, expect: null,
  },
  {
    name: 'a helper\'s own calls keep it alive',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Task')),
      ...every(900, 2700, 900, second => at(second, says.toolUse(`n${String(second)}`, 'Bash', 'g'))), at(3500, says.toolResult('g')),
      at(3501, says.result()),
    ],
    exit: 3502, expect: null,
  },
  {
    name: 'a helper that hangs is a stall at its own limit',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(100, says.toolUse('n', 'Bash', 'g')), at(110, says.toolResult('n', 'g')),
      ...beats(110, 3000),
    ],
    exit: NEVER, expect: { clock: 'agent-tool', at: 1310 },
  },
  {
    name: 'a helper\'s quiet Bash call of 15 minutes is healthy',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(20, says.toolUse('n', 'Bash', 'g')), ...beats(20, 920),
      at(920, says.toolResult('n', 'g')), at(930, says.toolResult('g')), at(931, says.result()),
    ],
    exit: 932, expect: null,
  },
  {
    name: 'a helper of a helper keeps both alive',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(20, says.toolUse('h', 'Agent', 'g')),
      at(1100, says.toolUse('n', 'Bash', 'h')), at(2200, says.toolResult('n', 'h')), at(3300, says.toolResult('g')),
      at(3301, says.result()),
    ],
    exit: 3302, expect: null,
  },
  {
    name: 'a Bash call beside a helper is given the helper\'s limit',
    steps: [
      at(5, says.init()), at(10, says.toolUse('a', 'Bash')), at(10.1, says.toolUse('g', 'Agent')), ...beats(10, 1100),
      at(1100, says.toolResult('g')), at(1101, says.toolResult('a')), at(1102, says.result()),
    ],
    exit: 1103, expect: null,
  },
  {
    name: 'what a helper does in the background doesn\'t hide that the main conversation hangs',
    steps: [
      at(5, says.init()), at(10, says.toolUse('g', 'Agent')), at(11, says.taskStarted('t', 'g')), at(12, says.toolResult('g')),
      ...every(20, 3000, 20, second => at(second, says.toolUse(`n${String(second)}`, 'Bash', 'g'))),
    ],
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
    steps: [
      at(5, says.init()), ...every(200, 1000, 200, second => at(second, says.said('x', 'nobody'))), at(1100, says.said('hi')),
      at(1101, says.result()),
    ],
    exit: 1102, expect: null,
  },
]
