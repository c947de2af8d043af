/** Each clock and rule of the watchdog, how to switch it off in the source text, and the situation that must then come out wrong. */

export interface Guard {
  readonly guard: string
  /** In `src/executor`. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly text: string
  readonly instead: string
  readonly situation: string
}

const SITUATION = 'watchdog/situation.ts'
const STATE = 'watchdog/state.ts'
const WATCHDOG = 'watchdog/watchdog.ts'
const WORK = 'stream/open-work.ts'
const LIVENESS = 'stream/liveness.ts'
const TURNS = 'stream/turns.ts'

const CLOCKS: readonly Guard[] = [
  {
    guard: 'clock first-event', file: SITUATION, text: 'limitMs: settings.firstEventTimeoutMs', instead: 'limitMs: null',
    situation: 'a child that writes nothing at all is ended by the first-event clock (T6)',
  },
  {
    guard: 'clock idle', file: SITUATION,
    text: 'limitMs: whenOn(settings.idleTimeoutMs, settings.idleTimeoutMs),',
    instead: 'limitMs: null,',
    situation: 'one tool event, then only heartbeats with growing quiet time: a stall at the idle limit (T1)',
  },
  {
    guard: 'clock tool', file: SITUATION, text: 'limitMs: limit + (state.retryDelayMs ?? 0)',
    instead: 'limitMs: agent === undefined ? null : limit + (state.retryDelayMs ?? 0)',
    situation: 'a tool that never ends is a stall at the tool limit',
  },
  {
    guard: 'clock agent-tool', file: SITUATION, text: 'limitMs: limit + (state.retryDelayMs ?? 0)',
    instead: 'limitMs: agent === undefined ? limit + (state.retryDelayMs ?? 0) : null',
    situation: 'a helper that hangs is a stall at its own limit',
  },
  {
    guard: 'clock retry-wait', file: SITUATION,
    text: 'limitMs: whenOn(settings.idleTimeoutMs, settings.idleTimeoutMs + state.retryDelayMs),',
    instead: 'limitMs: null,', situation: 'no answer after the announced delay is a stall',
  },
  {
    guard: 'clock background', file: SITUATION, text: 'limitMs: settings.backgroundTimeoutMs', instead: 'limitMs: null',
    situation: 'a background task that never ends is given its limit',
  },
  {
    guard: 'clock settle', file: SITUATION, text: 'limitMs: settings.settleTimeoutMs', instead: 'limitMs: null',
    situation: 'a result followed by a hanging exit is settled after 30 s',
  },
  {
    guard: 'clock event-loop', file: WATCHDOG,
    text: 'requiresAction(state), ofSituation(state), eventLoop(state)',
    instead: 'requiresAction(state), ofSituation(state)',
    situation: 'no heartbeat for three intervals and no CPU time: the event loop is dead',
  },
  {
    guard: 'clock requires-action', file: WATCHDOG, text: '[requiresAction(state), ', instead: '[',
    situation: 'a pending permission question ends the child at once (T5)',
  },
  {
    guard: 'clock max-runtime', file: WATCHDOG, text: 'eventLoop(state), maxRuntime(state)]', instead: 'eventLoop(state)]',
    situation: 'activity without end is ended by the run-time bound (R-104)',
  },
]

const PROGRESS: readonly Guard[] = [
  {
    guard: 'a heartbeat is no progress', file: STATE, text: '  state.heartbeatSeen = true',
    instead: '  state.heartbeatSeen = true\n  state.progressAt = at\n  state.ownQuietSince = null\n  if (at > 0) return',
    situation: 'one tool event, then only heartbeats with growing quiet time: a stall at the idle limit (T1)',
  },
  {
    guard: 'a heartbeat is no first record', file: STATE, text: '  state.heartbeatSeen = true',
    instead: '  state.heartbeatSeen = true\n  state.begun = true',
    situation: 'heartbeats before the first record don\'t stop the first-event clock',
  },
  {
    guard: 'noise is no progress', file: STATE, text: "  if (record.kind === 'noise') return\n",
    instead: "  if (record.kind === 'noise') { state.progressAt = at; state.begun = true; return }\n",
    situation: 'noise is no first record',
  },
  {
    guard: 'JSON without a type is noise', file: LIVENESS, text: '    case null:\n      return NOISE\n',
    instead: "    case null:\n      return { kind: 'other', type: 'none' }\n",
    situation: 'noise is no first record',
  },
  {
    guard: 'pings are noise', file: LIVENESS, text: "  if (event['type'] === 'ping') return NOISE\n", instead: '',
    situation: 'the model server\'s pings are not progress',
  },
  {
    guard: 'an unknown record is progress', file: LIVENESS,
    text: "      return { kind: 'other', type: `system/${nameOf(subtype)}` }",
    instead: '      return NOISE', situation: 'records of unknown types are progress (R-64)',
  },
  {
    guard: 'partial messages are progress', file: LIVENESS,
    text: "    case 'stream_event':\n      return decodeStreamEvent(value)",
    instead: "    case 'stream_event':\n      return NOISE", situation: 'a slow stream with partial messages is healthy',
  },
  {
    guard: 'tool progress belongs to its call (OpenClaude)', file: STATE, text: 'record.parent ?? record.toolUseId',
    instead: 'record.toolUseId',
    situation: 'progress of a command that moved to the background doesn\'t hide that the main conversation hangs',
  },
  {
    guard: 'tool progress is decoded', file: LIVENESS,
    text: "      return { kind: 'tool-progress', toolUseId: textOf(value['tool_use_id']) ?? '', parent: parentOf(value) }",
    instead: '      return NOISE',
    situation: 'tool progress in the form of Claude Code counts too',
  },
  {
    guard: 'a helper in the background doesn\'t feed the main clock',
    file: WORK,
    text: 'return parent === null || work.tools.has(parent) || !work.known.has(parent)',
    instead: 'return parent === null || work.tools.has(parent) || true',
    situation: 'what a helper does in the background doesn\'t hide that the main conversation hangs',
  },
  {
    guard: 'records of an open call feed it', file: WORK,
    text: 'return parent === null || work.tools.has(parent) || !work.known.has(parent)',
    instead: 'return parent === null || !work.known.has(parent)', situation: 'a helper\'s own calls keep it alive',
  },
  {
    guard: 'records of an unknown parent are progress', file: WORK,
    text: 'return parent === null || work.tools.has(parent) || !work.known.has(parent)',
    instead: 'return parent === null || work.tools.has(parent)',
    situation: 'records under a parent that was never seen are progress',
  },
  {
    guard: 'task news belongs to the call that started it', file: STATE, text: 'return belongsToMain(state.work, record.toolUseId)',
    instead: 'return true',
    situation: 'what a helper does in the background doesn\'t feed a helper in the foreground',
  },
]

const OWN_CLOCK: readonly Guard[] = [
  {
    guard: 'the child\'s own clock can trip the idle clock', file: SITUATION, text: 'background > 0 ? null : state.ownQuietSince',
    instead: 'null',
    situation: 'the child\'s own clock above the idle limit ends it on that line (R-65)',
  },
  {
    guard: 'own clock: not in the background', file: SITUATION, text: 'background > 0 ? null : state.ownQuietSince',
    instead: 'state.ownQuietSince',
    situation: 'the child\'s own clock doesn\'t count while a background task runs',
  },
  {
    guard: 'own clock: not while a tool is open', file: SITUATION, text: '    since: state.progressAt,\n    limitMs: limit +',
    instead: '    since: Math.min(state.progressAt, state.ownQuietSince === null ? Infinity : state.ownQuietSince - 420_000),\n    limitMs: limit +',
    situation: 'the child\'s own clock doesn\'t count while a tool is open',
  },
  {
    guard: 'own clock: not while a retry waits', file: SITUATION,
    text: '      since: state.progressAt,\n      limitMs: whenOn(settings.idleTimeoutMs, settings.idleTimeoutMs + state.retryDelayMs)',
    instead: '      since: Math.min(state.progressAt, (state.ownQuietSince ?? Infinity) - 300_000),\n      limitMs: whenOn(settings.idleTimeoutMs, settings.idleTimeoutMs + state.retryDelayMs)',
    situation: 'the child\'s own clock doesn\'t count while a retry waits',
  },
  {
    guard: 'own clock: not the stderr heartbeat', file: STATE, text: "  if (beat.source === 'text') return\n", instead: '',
    situation: 'the quiet time of the stderr heartbeat is never a stall proof',
  },
  {
    guard: 'own clock: not across a sleep', file: STATE, text: 'Math.max(said, state.rearmedAt ?? said)', instead: 'said',
    situation: 'after sleep the child\'s own clock proves nothing',
  },
]

const CHOICE: readonly Guard[] = [
  {
    guard: 'an open tool takes the idle clock\'s place', file: SITUATION, text: 'if (tools.length > 0) return',
    instead: 'if (tools.length > 99) return', situation: 'a quiet Bash call of 9 minutes is healthy',
  },
  {
    guard: 'an agent\'s call has the longer limit', file: WORK, text: 'return AGENT_TOOLS.has(name)',
    instead: 'return false && AGENT_TOOLS.has(name)',
    situation: 'a helper with a slow stream is quiet for 18 minutes and healthy',
  },
  {
    guard: 'a helper\'s own calls don\'t choose the clock', file: WORK,
    text: 'return [...work.tools.values()].filter(tool => tool.parent === null).map(tool => tool.name)',
    instead: 'return [...work.tools.values()].map(tool => tool.name).reverse().slice(0, 1)',
    situation: 'a helper\'s quiet Bash call of 15 minutes is healthy',
  },
  {
    guard: 'an agent\'s call outweighs a plain one', file: SITUATION, text: 'const agent = tools.find(isAgentTool)',
    instead: 'const agent = tools.slice(0, 1).find(isAgentTool)',
    situation: 'a Bash call beside a helper is given the helper\'s limit',
  },
  {
    guard: 'a result closes its call', file: WORK,
    text: '      for (const id of record.toolResults) closeTool(work, id)\n',
    instead: '',
    situation: 'after the last tool result the model is owed again',
  },
  {
    guard: 'one result closes one call', file: WORK,
    text: '      for (const id of record.toolResults) closeTool(work, id)\n',
    instead: '      if (record.toolResults.length > 0) work.tools.clear()\n',
    situation: 'of two parallel calls one ends and one hangs: a stall',
  },
  {
    guard: 'an oversize result closes its call', file: WORK, text: '        else closeTool(work, id)\n', instead: '',
    situation: 'an oversize tool result closes the call it names (F18)',
  },
  {
    guard: 'an oversize call opens', file: WORK,
    text: "        if (record.type === 'assistant') openTool(work, id, { name: '', parent: null })\n        else closeTool(work, id)",
    instead: '        closeTool(work, id)',
    situation: 'an oversize tool call opens the call it names (F18)',
  },
  {
    guard: 'an announced delay is waited for', file: SITUATION, text: 'settings.idleTimeoutMs + state.retryDelayMs',
    instead: 'settings.idleTimeoutMs',
    situation: 'an announced delay longer than the idle limit is waited for',
  },
  {
    guard: 'progress ends a retry wait', file: STATE, text: "record.kind === 'api-retry' ? record.delayMs : null",
    instead: "record.kind === 'api-retry' ? record.delayMs : state.retryDelayMs",
    situation: 'silence after a retry that got through runs on the idle clock again',
  },
  {
    guard: 'a delay is added to an open helper\'s limit', file: SITUATION, text: 'limitMs: limit + (state.retryDelayMs ?? 0)',
    instead: 'limitMs: limit',
    situation: 'a retry announced while a helper works adds its delay to the helper\'s limit',
  },
  {
    guard: 'an idle limit of 0 is off', file: SITUATION, text: 'return setting > 0 ? limitMs : null', instead: 'return limitMs',
    situation: 'an idle limit of 0 is off',
  },
  {
    guard: 'a run-time bound of 0 is off', file: WATCHDOG, text: 'return maxRuntimeMs > 0 && ', instead: 'return ',
    situation: 'a run-time bound of 0 is off',
  },
]

const PERMISSION: readonly Guard[] = [
  {
    guard: 'requires-action needs the state', file: STATE,
    text: "beat.state === 'requires_action' && beat.pendingPermissions > 0",
    instead: "beat.phase === 'waiting_for_permission'",
    situation: 'a permission phase left behind by an answered question is no question (T5)',
  },
  {
    guard: 'requires-action needs a pending question', file: STATE,
    text: "beat.state === 'requires_action' && beat.pendingPermissions > 0",
    instead: "beat.state === 'requires_action'",
    situation: 'requires_action with nothing pending is no question',
  },
]

const TURN: readonly Guard[] = [
  {
    guard: 'a result ends the turn', file: TURNS, text: "return record.kind === 'result' || (", instead: 'return (',
    situation: 'a result followed by a hanging exit is settled after 30 s',
  },
  {
    guard: 'an oversize result ends the turn', file: TURNS,
    text: " || (record.kind === 'oversize' && record.type === 'result')",
    instead: '', situation: 'an oversize result is a result (F18)',
  },
  {
    guard: 'after a result its open calls don\'t count', file: SITUATION,
    text: '  if (state.turnEnded) return afterResult(state, background)\n  const tools = mainToolNames(work)\n',
    instead: '  const tools = mainToolNames(work)\n  if (state.turnEnded && tools.length === 0) return afterResult(state, background)\n',
    situation: 'a call left open by a turn that ended is not waited for',
  },
  {
    guard: 'a new init opens the turn again', file: TURNS, text: "    case 'init':\n", instead: "    case 'init':\n      return false\n",
    situation: 'a woken turn whose model hangs is a stall, not a settled result',
  },
  {
    guard: 'started tasks are known without a heartbeat', file: WORK,
    text: "  if (record.event === 'started') work.tasks.set(record.taskId, record.toolUseId)\n",
    instead: '',
    situation: 'a background task is known before the first heartbeat tells of it',
  },
  {
    guard: 'the heartbeat\'s count of tasks counts', file: WORK, text: '  work.reportedTasks = count\n', instead: '',
    situation: 'a background task known only from a heartbeat is waited for',
  },
  {
    guard: 'the settle window starts when the background is empty',
    file: SITUATION,
    text: 'since: Math.max(state.anyProgressAt, state.settledAt)',
    instead: 'since: state.anyProgressAt',
    situation: 'when the background is empty and nothing follows, the child is settled',
  },
]

const PROCESS: readonly Guard[] = [
  {
    guard: 'event loop: not before the first heartbeat', file: WATCHDOG, text: ' || !state.heartbeatSeen', instead: '',
    situation: 'a late first heartbeat is load, not a dead event loop',
  },
  {
    guard: 'event loop: CPU time must stand still', file: WATCHDOG,
    text: 'Math.max(state.signAt + MISSED_HEARTBEATS * heartbeatMs, cpu.since + (MISSED_HEARTBEATS - 1) * heartbeatMs)',
    instead: 'state.signAt + MISSED_HEARTBEATS * heartbeatMs', situation: 'no heartbeat but CPU time: busy, not dead',
  },
  {
    guard: 'event loop: the window starts when the CPU stops', file: STATE,
    text: 'else if (state.cpu?.ticks === ticks) state.cpu = { ...state.cpu, until: at }',
    instead: 'else if (state.cpu !== null) state.cpu = { ...state.cpu, until: at }',
    situation: 'the event-loop window starts when the CPU time stops',
  },
  {
    guard: 'event loop: unreadable CPU time proves nothing', file: STATE, text: 'if (ticks === null) state.cpu = null',
    instead: 'if (ticks === null) state.cpu = { ticks: 0, since: 0, until: at }',
    situation: 'where CPU time can\'t be read, missing heartbeats prove nothing',
  },
  {
    guard: 'event loop: an old reading proves nothing', file: WATCHDOG,
    text: "return cpu.until >= at - heartbeatMs ? { clock: 'event-loop', at } : null",
    instead: "return { clock: 'event-loop', at }", situation: 'an old reading of the CPU time proves nothing',
  },
  {
    guard: 'event loop: off without a heartbeat', file: WATCHDOG, text: 'if (heartbeatMs === null || ', instead: 'if (',
    situation: 'without a heartbeat the event-loop clock is off',
  },
  {
    guard: 'event loop: records take the place of beats', file: STATE, text: '  state.signAt = at\n  if (record',
    instead: "  if (record.kind === 'heartbeat') state.signAt = at\n  if (record",
    situation: 'records take the place of heartbeats',
  },
  {
    guard: 'event loop: a stopped child is not dead', file: WATCHDOG, text: ' || state.stopped', instead: '',
    situation: 'a child stopped by a signal is given the idle limit (F13)',
  },
  {
    guard: 'event loop: not after a result', file: WATCHDOG, text: ' || state.turnEnded) return null', instead: ') return null',
    situation: 'after a result missing heartbeats are no dead event loop',
  },
  {
    guard: 'sleep starts every window anew', file: STATE, text: '  state.rearmedAt = at\n  state.progressAt = at\n',
    instead: '  state.rearmedAt = at\n',
    situation: 'sleep of the machine starts every window anew (F12)',
  },
  {
    guard: 'sleep doesn\'t lengthen the run-time bound', file: WATCHDOG, text: 'at: state.startedAt + maxRuntimeMs }',
    instead: 'at: (state.rearmedAt ?? state.startedAt) + maxRuntimeMs }',
    situation: 'the run-time bound holds through sleep',
  },
]

export const GUARDS: readonly Guard[] = [...CLOCKS, ...PROGRESS, ...OWN_CLOCK, ...CHOICE, ...PERMISSION, ...TURN, ...PROCESS]
