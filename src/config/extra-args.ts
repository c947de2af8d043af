/**
 * The key `extraArgs`: arguments passed on verbatim, last. Flags that this program sets itself are refused, each with what
 * to use instead.
 */
import { itemPath } from '../core/fault-list.ts'
import { quoted } from '../core/observed.ts'
import { text } from '../core/value-rules.ts'
import { decodeTextList, type KeySpec } from './key-spec.ts'

const OURS = 'it is set for every launch'
const SESSIONS = 'sessions are chosen per launch'
const ONE_RUN = 'the child would not do the task and end'

/** Flag to the reason, or to the key that sets it. */
const OWNED_FLAGS: ReadonlyMap<string, string> = new Map([
  ['--print', OURS], ['-p', OURS], ['--output-format', OURS], ['--input-format', OURS], ['--verbose', OURS],
  ['--include-partial-messages', OURS],
  ['--session-id', SESSIONS], ['--resume', SESSIONS], ['-r', SESSIONS], ['--continue', SESSIONS], ['-c', SESSIONS],
  ['--fork-session', SESSIONS],
  ['--no-session-persistence', 'use noSessionPersistence'], ['--max-turns', 'use maxTurns'], ['--max-steps', 'use maxTurns'],
  ['--heartbeat', 'use heartbeat'], ['--yolo', 'use permissionMode'], ['--dangerously-skip-permissions', 'use permissionMode'],
  ['--permission-mode', 'use permissionMode'], ['--append-system-prompt', 'use appendSystemPrompt'], ['--add-dir', 'use addDirs'],
  ['--model', 'use model'], ['--provider', 'use provider'], ['--settings', OURS], ['--json-schema', 'the result is read as text'],
  ['--permission-prompt-tool', 'nobody could answer its questions'], ['--bg', ONE_RUN], ['--worktree', ONE_RUN],
  ['--help', ONE_RUN], ['-h', ONE_RUN], ['--version', ONE_RUN], ['-v', ONE_RUN],
])

export const extraArgsKey: KeySpec<readonly string[]> = {
  type: 'list of texts',
  meaning: 'Arguments for the child, passed on as they are, after all others.',
  bad: 'error: the first must be a flag; flags this program sets itself are refused',
  fallback: () => [],
  decode(value, place) {
    const args = decodeTextList(value, place, text, 'each entry')
    if (args === null) return null
    let good = true
    const refuse = (index: number, wrong: string): void => {
      good = false
      place.report(wrong, { path: itemPath(place.path, index) })
    }
    const [first] = args
    if (first !== undefined && !first.startsWith('-')) {
      refuse(0, `must start with a flag, since the CLI would read ${quoted(first)} as a prompt`)
    }
    args.forEach((argument, index) => {
      if (argument === '--') refuse(index, 'must not hold "--": what follows would be read as a prompt')
      for (const flag of flagsOf(argument)) {
        const instead = OWNED_FLAGS.get(flag)
        if (instead !== undefined) refuse(index, `must not hold ${flag}: ${instead}`)
      }
    })
    return good ? args : null
  },
}

/** The flags one argument stands for: `--a=b` is `--a`, `-pc` is `-p` and `-c`. */
function flagsOf(argument: string): readonly string[] {
  if (argument.startsWith('--')) return [argument.split('=', 1)[0] ?? argument]
  return /^-[A-Za-z]+$/.test(argument) ? Array.from(argument.slice(1), letter => `-${letter}`) : []
}
