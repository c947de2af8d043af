/** Reads the recorded runs of the real command line under test/fixtures/transcripts. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

export interface RecordedRun {
  readonly name: string
  readonly args: readonly string[]
  /** Name of the mock model that answered. */
  readonly model: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  readonly signal: string | null
  /** The recorder ended it. */
  readonly timedOut: boolean
}

export interface TimelineEntry {
  readonly t_ms: number
  readonly stream: 'stdout' | 'stderr' | 'signal'
  readonly text: string
}

export const TRANSCRIPTS_DIR: string = fileURLToPath(new URL('../fixtures/transcripts/', import.meta.url))

export function recordedRunNames(): string[] {
  return readdirSync(TRANSCRIPTS_DIR).filter(name => statSync(join(TRANSCRIPTS_DIR, name)).isDirectory()).toSorted()
}

export function readRecordedRun(name: string): RecordedRun {
  const read = (file: string): string => readFileSync(join(TRANSCRIPTS_DIR, name, file), 'utf8')
  const argv = JSON.parse(read('argv.json')) as { readonly args: readonly string[], readonly model: string, readonly env: Record<string, string> }
  const exit = JSON.parse(read('exit.json')) as { readonly code: number | null, readonly signal: string | null, readonly timed_out: boolean }
  return {
    name,
    args: argv.args,
    model: argv.model,
    env: Array.isArray(argv.env) ? {} : argv.env,
    stdin: read('stdin.txt'),
    stdout: read('stdout.txt'),
    stderr: read('stderr.txt'),
    code: exit.code,
    signal: exit.signal,
    timedOut: exit.timed_out,
  }
}

/** Empty for cases that were not timed. */
export function readTimeline(name: string): TimelineEntry[] {
  const path = join(TRANSCRIPTS_DIR, name, 'timeline.jsonl')
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return []
  return readFileSync(path, 'utf8').split('\n').filter(line => line !== '').map(line => JSON.parse(line) as TimelineEntry)
}
