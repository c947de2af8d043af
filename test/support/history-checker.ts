/**
 * Reads a journal after a fault and checks the history it tells: never two live owners of one attempt, no accepted attempt lost, no
 * verdict without evidence or a reason, each launch intended -> live -> ended -> swept. The chain itself is proved by the reader.
 */
import { expect } from 'vitest'
import type { Entry, EntryKind } from '../../src/core/entry-types.ts'
import type { JournalRecord } from '../../src/engine/journal/format.ts'
import { readJournal } from '../../src/engine/journal/reader.ts'

interface Launch {
  stage: 'intended' | 'live' | 'ended' | 'closed'
  /** Engine that owns it: the one that launched or adopted it last. */
  engine: number
}

interface Attempt {
  ended: boolean
  verdict: Extract<Entry, { kind: 'verdict' }>['verdict'] | null
  landed: boolean
  readonly evidence: Set<string>
  readonly launches: Map<number, Launch>
}

interface Task {
  readonly attempts: Map<number, Attempt>
  accepted: boolean
  /** A person answered a hand-off with accept. */
  acceptedByPerson: boolean
}

interface History {
  readonly tasks: Map<string, Task>
  finished: boolean
  /** Finished by an abort or a halt. */
  ending: boolean
  engine: number
  engineStopped: boolean
}

interface Step {
  readonly history: History
  readonly engine: number
  readonly say: (fault: string) => void
}

type Rules = { readonly [K in EntryKind]?: (step: Step, entry: Extract<Entry, { kind: K }>) => void }

/** Every broken rule, with the number of the entry that breaks it. Empty = a sound history. */
export function historyFaults(records: readonly JournalRecord[]): readonly string[] {
  const history: History = { tasks: new Map(), finished: false, ending: false, engine: 0, engineStopped: false }
  const faults: string[] = []
  for (const { header, entry } of records) {
    const step: Step = { history, engine: header.engine, say: fault => faults.push(`${header.seq} ${entry.kind}: ${fault}`) }
    checkWriter(step, entry)
    const rule = RULES[entry.kind] as ((step: Step, entry: Entry) => void) | undefined
    rule?.(step, entry)
  }
  return faults
}

/** Proves the chain of the journal at `path` and the history in it. Resolves with its entries. */
export async function expectSoundHistory(path: string): Promise<readonly Entry[]> {
  const records: JournalRecord[] = []
  await readJournal(path, record => records.push(record))
  expect(historyFaults(records)).toEqual([])
  return records.map(record => record.entry)
}

/** What may stand before an engine has announced itself: the creation of the run, and what was found when the journal was opened. */
const UNANNOUNCED: ReadonlySet<EntryKind> = new Set<EntryKind>(['run-created', 'warning', 'engine-started'])

function checkWriter({ history, engine, say }: Step, entry: Entry): void {
  if (UNANNOUNCED.has(entry.kind)) return
  if (engine !== history.engine) say(`engine ${engine} writes before it announced itself`)
  else if (history.engineStopped) say('an engine that has stopped goes on writing')
}

const RULES: Rules = {
  'engine-started': ({ history, engine, say }) => {
    if (engine <= history.engine) say(`engine ${engine} starts after engine ${history.engine}`)
    history.engine = engine
    history.engineStopped = false
  },
  'engine-stopped': ({ history }) => {
    history.engineStopped = true
  },
  'run-finished': ({ history, say }, { result }) => {
    if (history.finished) say('the run had finished')
    history.finished = true
    history.ending = result.kind === 'aborted' || result.kind === 'halted'
    if (result.kind !== 'complete' && result.kind !== 'incomplete') return
    for (const [id, task] of history.tasks) {
      for (const launch of openLaunches(task)) say(`launch ${launch} of task ${id} is still open`)
      if (result.kind === 'complete' && task.attempts.size > 0 && !task.accepted) say(`task ${id} is not accepted`)
    }
  },
  'run-reopened': ({ history }) => {
    history.finished = false
  },
  'attempt-started': (step, entry) => {
    const { history, say } = step
    const task = taskOf(history, entry.task)
    if (history.finished) say('the run had finished')
    if (task.accepted) say('the task was accepted before')
    const last = [...task.attempts].at(-1)
    if (last !== undefined && !last[1].ended) say(`attempt ${last[0]} has not ended`)
    if (entry.attempt !== (last?.[0] ?? 0) + 1) say(`attempt ${entry.attempt} follows attempt ${last?.[0] ?? 0}`)
    task.attempts.set(entry.attempt, { ended: false, verdict: null, landed: false, evidence: new Set(), launches: new Map() })
  },
  'attempt-ended': (step, entry) => {
    const attempt = attemptOf(step, entry)
    if (attempt.ended) step.say('it had ended before')
    for (const [launch, { stage }] of attempt.launches) if (stage !== 'closed') step.say(`launch ${launch} is still ${stage}`)
    attempt.ended = true
  },
  'attempt-suspended': (step, entry) => {
    attemptOf(step, entry)
    for (const launch of openLaunches(taskOf(step.history, entry.task))) step.say(`launch ${launch} is still open`)
  },
  'launch-intended': (step, entry) => {
    const { history, say, engine } = step
    const attempt = attemptOf(step, entry)
    // After an abort or a halt an attempt may still open its launch: the request to end it is on its way.
    if (history.finished && !history.ending) say('the run had finished')
    if (attempt.ended) say('its attempt has ended')
    if (attempt.launches.has(entry.launch)) say(`launch ${entry.launch} was intended before`)
    for (const launch of openLaunches(taskOf(history, entry.task))) say(`launch ${launch} is still open: two live owners`)
    attempt.launches.set(entry.launch, { stage: 'intended', engine })
  },
  'launch-live': (step, entry) => void move(step, entry, { from: ['intended'], to: 'live' }),
  'launch-adopted': (step, entry) => {
    const launch = move(step, entry, { from: ['intended', 'live'], to: 'live' })
    if (launch === undefined) return
    if (step.engine <= launch.engine) step.say('adopted by the engine that owns it')
    launch.engine = step.engine
  },
  'launch-spawn-failed': (step, entry) => void move(step, entry, { from: ['intended'], to: 'closed' }),
  'launch-ended': (step, entry) => void move(step, entry, { from: ['intended', 'live'], to: 'ended' }),
  // An intended launch of a dead engine that never started is swept without an end.
  'launch-swept': (step, entry) => void move(step, entry, { from: ['ended', 'intended'], to: 'closed' }),
  'check-evidence': (step, entry) => {
    attemptOf(step, entry).evidence.add(entry.evidence.key)
  },
  'verdict': (step, entry) => {
    const attempt = attemptOf(step, entry)
    const { kind, evidence, reason } = entry.verdict
    if (evidence.length === 0 && reason === '') step.say('neither evidence nor a reason')
    if (kind === 'verified' && evidence.length === 0) step.say('verified without evidence')
    for (const key of evidence) if (!attempt.evidence.has(key)) step.say(`evidence ${key} was never recorded`)
    attempt.verdict = entry.verdict
  },
  'handoff-answered': ({ history }, entry) => {
    taskOf(history, entry.task).acceptedByPerson = entry.answer === 'accept'
  },
  'landed': (step, entry) => {
    const attempt = attemptOf(step, entry)
    if (attempt.verdict === null) step.say('no verdict')
    attempt.landed = true
  },
  'task-accepted': (step, entry) => {
    const { history, say } = step
    const task = taskOf(history, entry.task)
    if (task.accepted) say('it was accepted before')
    task.accepted = true
    if (entry.attempt === 0) return
    const attempt = attemptOf(step, entry)
    if (attempt.verdict === null) say('no verdict')
    else if (attempt.verdict.kind === 'rejected' && !task.acceptedByPerson) say('its verdict is rejected and no person accepted it')
    if (!attempt.landed) say('its work has not landed')
  },
  'task-cancelled': (step, entry) => {
    keepAccepted(step, entry)
    const task = taskOf(step.history, entry.task)
    for (const launch of openLaunches(task)) step.say(`launch ${launch} is still open`)
    for (const attempt of task.attempts.values()) attempt.ended = true
  },
  'task-failed': keepAccepted,
  'task-blocked': keepAccepted,
  'task-split': keepAccepted,
  'handoff-opened': keepAccepted,
}

function keepAccepted({ history, say }: Step, entry: { readonly task: string }): void {
  if (taskOf(history, entry.task).accepted) say('an accepted task was lost')
}

function move(step: Step, entry: { readonly task: string, readonly attempt: number, readonly launch: number },
  way: { readonly from: readonly Launch['stage'][], readonly to: Launch['stage'] }): Launch | undefined {
  const launch = attemptOf(step, entry).launches.get(entry.launch)
  if (launch === undefined) {
    step.say(`launch ${entry.launch} was never intended`)
    return undefined
  }
  if (!way.from.includes(launch.stage)) step.say(`launch ${entry.launch} is ${launch.stage}`)
  launch.stage = way.to
  return launch
}

function openLaunches(task: Task): readonly string[] {
  return [...task.attempts].flatMap(([attempt, { launches }]) =>
    [...launches].filter(([, { stage }]) => stage !== 'closed').map(([launch, { stage }]) => `${attempt}/${launch} (${stage})`))
}

function taskOf(history: History, id: string): Task {
  const task = history.tasks.get(id) ?? { attempts: new Map(), accepted: false, acceptedByPerson: false }
  history.tasks.set(id, task)
  return task
}

function attemptOf({ history, say }: Step, { task: id, attempt: number }: { readonly task: string, readonly attempt: number }): Attempt {
  const task = taskOf(history, id)
  const known = task.attempts.get(number)
  if (known !== undefined) return known
  say(`attempt ${number} of task ${id} never started`)
  const attempt: Attempt = { ended: false, verdict: null, landed: false, evidence: new Set(), launches: new Map() }
  task.attempts.set(number, attempt)
  return attempt
}
