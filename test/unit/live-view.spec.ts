import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { expect, test } from 'vitest'
import { createLiveView, table } from '../../src/cli/live-view.ts'
import { taskRow } from '../../src/cli/task-rows.ts'
import type { Entry } from '../../src/core/entry-types.ts'
import type { TaskSpec } from '../../src/core/graph-types.ts'
import { applyToHistory, newHistory, type RunHistory } from '../../src/report/history.ts'

const START = Date.parse('2026-01-01T10:00:00.000Z')
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString()
const spec = (id: string): TaskSpec => ({
  id, title: id, description: '', acceptanceCriteria: [], dependencies: [], priority: 0, assignee: 'openclaude',
})

function history(entries: readonly (readonly [number, Entry])[]): RunHistory {
  const made = newHistory('r1', { tasks: ['parser', 'cart', 'invoice'].map(spec) })
  for (const [seconds, entry] of entries) applyToHistory(made, { at: at(seconds), entry })
  return made
}

const STARTED: Entry = { kind: 'attempt-started', task: 'parser', attempt: 1, attemptKind: 'first' } as Entry
const LAUNCHED: Entry = { kind: 'launch-intended', task: 'parser', attempt: 1, launch: 1, mode: 'fresh', reason: 'first', sessionId: 's', dir: 'l1' } as Entry
const ACCEPTED: Entry = { kind: 'task-accepted', task: 'parser', attempt: 1 } as unknown as Entry
const BLOCKED: Entry = { kind: 'task-blocked', task: 'invoice', causes: ['cart'] } as Entry

test('a row per task shows phase, attempt, launch, elapsed, last activity, cost and the tool at work (R-93)', () => {
  const made = history([[0, STARTED], [1, LAUNCHED], [1, BLOCKED]])
  const activity = { launch: 1, phase: 'tool', lastTool: 'Bash', progressAt: 61_000, costUsd: 0.02, since: 0 }
  const rows = made.tasks.map(task => taskRow(task, task.id === 'parser' ? activity : undefined, 65_000, START + 70_000))
  expect(table(rows, 120)).toEqual([
    '   task     phase      try  launch  elapsed  activity  cost',
    '▸  parser   executing  1    1       1m 10s   4.0s ago  $0.0200  Bash, tool',
    '·  cart     pending',
    '⊘  invoice  blocked                                             by cart',
  ])
})

test('a narrow terminal gets lines cut to its width', () => {
  const made = history([[0, STARTED], [1, LAUNCHED]])
  const lines = table(made.tasks.map(task => taskRow(task, undefined, 0, START + 70_000)), 24)
  expect(lines).toEqual(['   task     phase      t', '▸  parser   executing  1', '·  cart     pending', '·  invoice  pending'].map(text => text.slice(0, 23)))
})

test('the times of a finished task stand still', () => {
  const made = history([[0, STARTED], [30, ACCEPTED]])
  const [task] = made.tasks
  if (task === undefined) throw new Error('no task')
  expect([60, 6000].map(seconds => taskRow(task, undefined, 0, START + seconds * 1000).elapsed)).toEqual(['30s', '30s'])
})

test('text of a child loses its escape sequences (F20)', () => {
  const reason = 'red \u001b[31mtext\u001b[0m, title \u001b]0;owned\u0007, bell \u0007, line\nbreak'
  const made = history([[0, { kind: 'task-failed', task: 'cart', reason } as Entry]])
  expect(made.tasks.map(task => taskRow(task, undefined, 0, START).note)[1]).toBe('red text, title , bell \u{FFFD}, line break')
})

test('the live view only reads the history: the run itself keeps it up to date', () => {
  const made = history([[0, STARTED]])
  const before = JSON.stringify(made.tasks)
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  const view = createLiveView(screen as unknown as WriteStream, made)
  view.entries?.([LAUNCHED, ACCEPTED], {} as never)
  view.close()
  expect(JSON.stringify(made.tasks)).toBe(before)
})
