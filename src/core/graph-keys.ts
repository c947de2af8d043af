/** The names a graph file may use, and what to say about well-known wrong ones. Rules for the values are `decode-task.ts`. */

export const GRAPH_KEYS = ['tasks', '$schema', 'name', 'version', 'description'] as const

export const TASK_KEYS = [
  'id', 'title', 'description', 'acceptanceCriteria', 'dependencies', 'priority', 'assignee',
  'command', 'checks', 'model', 'timeouts', 'maxAttempts', 'paths', 'mayEdit', 'expectTests',
] as const

export const CHECK_KEYS = ['name', 'command', 'timeoutMs', 'required', 'parallel'] as const

/** `off`: 0 switches the clock off; `refused`: the clock always runs. */
export const TIMEOUT_KEYS = {
  firstEventTimeoutMs: 'refused',
  idleTimeoutMs: 'off',
  toolTimeoutMs: 'refused',
  agentToolTimeoutMs: 'refused',
  backgroundTimeoutMs: 'refused',
  settleTimeoutMs: 'refused',
  maxRuntimeMs: 'off',
  acceptanceTimeoutMs: 'refused',
} as const

export const BUILT_IN_EXECUTORS = ['openclaude', 'command'] as const
export const DEFAULT_ASSIGNEE = 'openclaude'
export const COMMAND_ASSIGNEE = 'command'

/** Names that people write for a task key. */
export const TASK_KEY_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['dependsOn', 'dependencies'], ['depends_on', 'dependencies'], ['deps', 'dependencies'], ['needs', 'dependencies'],
  ['after', 'dependencies'],
  ['prompt', 'description'], ['instructions', 'description'], ['body', 'description'],
  ['name', 'title'], ['summary', 'title'],
  ['criteria', 'acceptanceCriteria'], ['acceptance', 'acceptanceCriteria'],
  ['agent', 'assignee'], ['executor', 'assignee'],
  ['run', 'command'], ['cmd', 'command'], ['script', 'command'],
  ['retries', 'maxAttempts'], ['maxRetriesPerTask', 'maxAttempts'], ['attempts', 'maxAttempts'],
  ['files', 'paths'], ['tests', 'expectTests'], ['timeout', 'timeouts'],
])

const RIGHTS = 'would change what a child may do'
const PROGRAM = 'would change which program runs'
const ENVIRONMENT = 'would change the environment of a child'
const PLACE = 'would change where a child works or writes'

/** Keys a graph can never set (SEMANTICS 12), with the reason. They belong to the configuration. */
export const CONFIG_ONLY_KEYS: ReadonlyMap<string, string> = new Map([
  ['executable', PROGRAM], ['extraArgs', PROGRAM], ['provider', PROGRAM], ['appendSystemPrompt', PROGRAM],
  ['env', ENVIRONMENT], ['envPass', ENVIRONMENT],
  ['permissionMode', RIGHTS], ['maxTurns', RIGHTS], ['noSessionPersistence', RIGHTS], ['acceptUnverified', RIGHTS], ['patchMode', RIGHTS],
  ['addDirs', PLACE], ['workdir', PLACE], ['cwd', PLACE], ['stateDir', PLACE], ['storePath', PLACE], ['workspace', PLACE],
])
