/**
 * Where the command writes. With `--json` standard output carries exactly one JSON document and everything else goes to standard error.
 * Errors are shown as subject, rule and fix, with all faults; a stack only for defects of our own.
 */
import { OpenClaudeError } from '../errors.ts'
import { printable } from '../report/printable.ts'

export interface Output {
  readonly json: boolean
  /** A line for a person: standard output, or standard error with `--json`. */
  readonly say: (line: string) => void
  /** A line about trouble: always standard error. */
  readonly warn: (line: string) => void
  /** The one document of `--json`; without it, nothing. */
  readonly document: (value: unknown) => void
}

export function createOutput(json: boolean): Output {
  const write = (stream: NodeJS.WriteStream, line: string): void => void stream.write(`${printable(line)}\n`)
  return {
    json,
    say: line => write(json ? process.stderr : process.stdout, line),
    warn: line => write(process.stderr, line),
    document: value => {
      if (json) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    },
  }
}

/**
 * A reader that went away (`| head -1`, a closed terminal) must not end a run: what is said to nobody is dropped. Returns whether anything
 * was lost for another reason, such as a full disk behind `> file`.
 */
export function surviveClosedOutput(): () => boolean {
  let lost = false
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => { lost ||= error.code !== 'EPIPE' && error.code !== 'EIO' })
  }
  return () => lost
}

export function renderError(error: unknown): readonly string[] {
  if (!(error instanceof OpenClaudeError)) {
    return [`dsh-openclaude: internal error: ${error instanceof Error ? error.stack ?? error.message : String(error)}`]
  }
  const [first = '', ...more] = error.message.split('\n')
  return [
    `dsh-openclaude: ${first} [${error.code}]`,
    ...more,
    // Most messages list their faults themselves, in the form of the file they were found in.
    ...error.faults.filter(fault => !error.message.includes(fault.message)).map(fault => `  ${fault.path}: ${fault.message}`),
    ...(error.fix === undefined ? [] : [`  ${error.fix}`]),
    ...(error.code === 'OC_INTERNAL' && error.cause instanceof Error ? [error.cause.stack ?? error.cause.message] : []),
  ]
}
