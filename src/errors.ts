/**
 * The one error class of the project and the table of its codes. Callers branch on `code`, never on the text.
 * A message names the subject, the rule it broke, what was seen, and the fix. `docs/errors.md` is generated from the table.
 */

/** Whether trying the same thing again can help. */
export type RetryHint = 'never' | 'same-input' | 'after-change'

interface CodeInfo {
  readonly meaning: string
  readonly retry: RetryHint
  /** Exit code of the command line when this error ends it (SEMANTICS 2): 2 input, 3 environment. */
  readonly exit: 2 | 3
}

const code = (exit: 2 | 3, retry: RetryHint, meaning: string): CodeInfo => ({ exit, retry, meaning })

export const ERROR_CODES = {
  OC_GRAPH_INVALID: code(2, 'after-change', 'The graph file breaks one or more rules; every fault is listed with its place.'),
  OC_GRAPH_UNREADABLE: code(2, 'after-change', 'The graph file is missing, is no file, is too large, or is neither JSON nor YAML.'),
  OC_CONFIG_INVALID: code(2, 'after-change', 'One or more configuration values break their rule; every fault is listed.'),
  OC_USAGE: code(2, 'after-change', 'The command line is not understood.'),
  OC_RUN_UNKNOWN: code(2, 'after-change', 'No run of this repository has that id.'),
  OC_RUN_STATE: code(2, 'after-change', 'The run is not in a state that allows the command.'),
  OC_WORKDIR_INVALID: code(2, 'after-change', 'The work directory is missing or is no directory.'),
  OC_ENV_NODE: code(3, 'after-change', 'The Node version that host or child would use is too old.'),
  OC_ENV_PLATFORM: code(3, 'never', 'This operating system is not supported.'),
  OC_ENV_ROOT: code(3, 'after-change', 'OpenClaude refuses unattended permission mode for root outside a sandbox.'),
  OC_LOCK_HELD: code(3, 'same-input', 'Another engine owns this repository.'),
  OC_LOCK_FOREIGN: code(3, 'after-change', 'The run was left by an engine in another PID namespace or on another host.'),
  OC_JOURNAL_CORRUPT: code(3, 'after-change', 'A journal line before the last one is damaged, missing or out of order.'),
  OC_JOURNAL_VERSION: code(3, 'after-change', 'The journal was written by a newer version.'),
  OC_JOURNAL_WRITE: code(3, 'same-input', 'The journal could not be made durable; nothing after that point took effect.'),
  OC_STATE_DIR: code(3, 'after-change', 'The state directory cannot be created, read or written.'),
  OC_CHILD_NOT_FOUND: code(3, 'after-change', 'The executable was found in none of the places that were tried.'),
  OC_CHILD_SPAWN: code(3, 'after-change', 'The child process could not be started.'),
  OC_CHILD_VERSION: code(3, 'after-change', 'The executable did not answer a version request.'),
  OC_ADVISOR_FAILED: code(3, 'same-input', 'The model behind the advisor could not be asked, or did not answer.'),
  OC_PATCH_REFUSED: code(2, 'after-change', 'A patch names a file outside the work tree, passes through a symbolic link, or does not apply.'),
  OC_SIGNAL_EMPTY: code(3, 'never', 'A composite abort signal was asked for over no signals.'),
  OC_INTERNAL: code(3, 'never', 'A rule of this program was broken by the program itself; please report it.'),
} as const satisfies Record<string, CodeInfo>

export type ErrorCode = keyof typeof ERROR_CODES

/** One fault of an input that may have several. `path` is a JSON path such as `$.tasks[3].dependencies[0]`. */
export interface Fault {
  readonly path: string
  readonly message: string
  /** 1-based, when the input is text. */
  readonly line?: number
  readonly column?: number
  /** The nearest valid name, or what to write instead. */
  readonly suggestion?: string
}

export interface ErrorFacts {
  /** The thing the error is about, for example `graph.json` or `task "impl"`. */
  readonly subject?: string
  /** What to do about it, one sentence. */
  readonly fix?: string
  readonly faults?: readonly Fault[]
  readonly cause?: unknown
}

export class OpenClaudeError extends Error {
  readonly code: ErrorCode
  readonly subject: string | undefined
  readonly fix: string | undefined
  readonly faults: readonly Fault[]

  constructor(errorCode: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'OpenClaudeError'
    this.code = errorCode
    this.subject = facts.subject
    this.fix = facts.fix
    this.faults = facts.faults ?? []
  }

  get exitCode(): 2 | 3 {
    return ERROR_CODES[this.code].exit
  }
}

/** Ends a switch over a closed union; reached only when a member is missing. */
export function assertNever(value: never): never {
  throw new OpenClaudeError('OC_INTERNAL', `Unexpected value ${JSON.stringify(value)}`)
}
