import { describe, expect, test } from 'vitest'
import type { TaskSpec } from '../../src/core/graph-types.ts'
import { splitFaults } from '../../src/core/split.ts'
import { newRunState } from '../../src/core/run-state.ts'
import { graphOf, policy, spec } from '../support/core-facts.ts'
import { startWorld } from '../support/core-world.ts'

describe('the rules of a split (R-61, SEMANTICS 5 and 12)', () => {
  const parent = spec('a', [], { mayEdit: ['test/**'], assignee: 'other-agent' })
  const rows: readonly [string, readonly TaskSpec[], readonly string[]][] = [
    ['children that wait for each other, with the assignee of the parent or an agent', [spec('x', [], { assignee: 'other-agent' }), spec('y', ['x'], { mayEdit: ['test/**'] })], []],
    ['no children', [], ['The split names no tasks.']],
    ['an illegal id', [spec('a/b')], ['Task "a/b": an id starts with a letter or digit, goes on with letters, digits, ".", "_" or "-", has at most 64 characters, no ".." and no "." or ".lock" at its end.']],
    ['an id that differs only in case from another child', [spec('x'), spec('X')], ['Task "X" has an id that is taken (case is ignored).']],
    ['a dependency on the parent', [spec('x', ['a'])], ['Task "x" depends on "a", which is unknown or waits for "a" itself.']],
    ['a dependency on what waits for the parent through others', [spec('x', ['c'])], ['Task "x" depends on "c", which is unknown or waits for "a" itself.']],
    ['a dependency on an independent task', [spec('x', ['free'])], []],
    ['a dependency on itself', [spec('x', ['x'])], ['The tasks depend on each other in a circle: x.']],
    ['a command', [spec('x', [], { command: 'rm -r .' })], ['Task "x" brings a command; only a graph written by a person may.']],
    ['checks of its own', [spec('x', [], { checks: [] })], ['Task "x" brings checks; only a graph written by a person may.']],
    ['an executor that is no agent', [spec('x', [], { assignee: 'command' })], ['Task "x" is assigned to "command", which is no agent of this run.']],
    ['more judge files than the parent may edit', [spec('x', [], { mayEdit: ['package.json'] })], ['Task "x" may edit more judge files than "a".']],
    ['fewer tests than the parent needs', [spec('x', [], { expectTests: 0 })], ['Task "x" lowers expectTests.']],
  ]
  test.each(rows)('%s', (_, children, faults) => {
    const state = newRunState({ tasks: [parent, spec('b', ['a']), spec('c', ['b']), spec('free')] }, 'run', policy())
    const [task] = state.tasks
    expect(task === undefined ? null : splitFaults(state, task, children)).toEqual(faults.map(fault => fault))
  })

  test('children may wait for work that is accepted already', () => {
    const run = startWorld(graphOf({ first: [], a: ['first'] }), {
      policy: { supervised: true },
      script: {
        verdict: task => ({ kind: task === 'a' ? 'rejected' : 'verified', reason: 'r', judgeError: false, evidence: [], findings: [], tree: '' }),
        advice: () => ({ kind: 'decided', askFile: null, answerFile: null, decision: { kind: 'split', reason: 'r', tasks: [spec('x', ['first'])] } }),
      },
    })
    run.run()
    expect(run.state.result).toEqual({ kind: 'complete' })
  })
})
