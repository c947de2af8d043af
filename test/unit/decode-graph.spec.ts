import { describe, expect, it } from 'vitest'
import { decodeGraph, type DecodeGraphOptions } from '../../src/core/decode-graph.ts'
import type { TaskSpec } from '../../src/core/graph-types.ts'

const TRUSTED: DecodeGraphOptions = { trusted: true }

function tasksOf(value: unknown, options: DecodeGraphOptions = TRUSTED): readonly TaskSpec[] {
  const decoded = decodeGraph(value, options)
  if (decoded.kind === 'faults') throw new Error(JSON.stringify(decoded.faults))
  return decoded.graph.tasks
}

/** `path | message | suggestion` of every fault, the known-keys part of a message left out. */
function faultsOf(value: unknown, options: DecodeGraphOptions = TRUSTED): readonly string[] {
  const decoded = decodeGraph(value, options)
  if (decoded.kind === 'graph') return []
  return decoded.faults.map(({ path, message, suggestion }) => [path, message.replace(/; known are .*/, '.'), ...(suggestion === undefined ? [] : [suggestion])].join(' | '))
}

/** The faults of a single task with the given fields. */
const taskFaults = (fields: Record<string, unknown>, options?: DecodeGraphOptions): readonly string[] => faultsOf([{ id: 'a', ...fields }], options)

describe('a graph is decoded (R-53)', () => {
  it('fills the defaults of a task that is only an id', () => {
    expect(tasksOf([{ id: 'a' }])).toEqual([
      { id: 'a', title: 'a', description: '', acceptanceCriteria: [], dependencies: [], priority: 0, assignee: 'openclaude' },
    ])
  })

  it('takes an object with tasks and known metadata as well as a list', () => {
    const tasks = [{ id: 'a' }, { id: 'b', dependencies: ['a'] }]
    expect(tasksOf({ $schema: './graph.schema.json', name: 'port', version: 2, description: 'x', tasks })).toEqual(tasksOf(tasks))
  })

  it('keeps every field of a full task and the order of the file', () => {
    const full = {
      id: 'build_1.x-y', title: 'Build', description: 'Do it.', acceptanceCriteria: ['one', 'two'], dependencies: ['z'], priority: -1.5, assignee: 'openclaude',
      checks: ['test', { name: 'e2e', command: 'npm run e2e', timeoutMs: 5, required: false, parallel: true }], model: 'big',
      timeouts: { idleTimeoutMs: 0, maxRuntimeMs: 0, toolTimeoutMs: 1 }, maxAttempts: 1, paths: ['src/**'], mayEdit: [], expectTests: 0,
    }
    const command = {
      id: 'z', title: 'z', description: '', acceptanceCriteria: [], dependencies: [], priority: 0, assignee: 'command', command: 'make',
    }
    expect(tasksOf([full, command])).toEqual([full, command])
  })

  it('takes one acceptance criterion as text, and an empty one as none', () => {
    expect(tasksOf([{ id: 'a', acceptanceCriteria: 'green' }, { id: 'b', acceptanceCriteria: '' }]).map(task => task.acceptanceCriteria)).toEqual([['green'], []])
  })

  it('accepts a diamond whose tasks stand in any order (T24)', () => {
    const diamond = [
      { id: 'end', dependencies: ['left', 'right'] }, { id: 'left', dependencies: ['start'] }, { id: 'right', dependencies: ['start'] }, { id: 'start' },
    ]
    expect(tasksOf(diamond).map(task => task.id)).toEqual(['end', 'left', 'right', 'start'])
  })

  it('accepts a chain of 100,000 tasks in either direction without recursion (T24)', () => {
    const chain = Array.from({ length: 100_000 }, (_, index) => ({ id: `t${index}`, dependencies: index === 0 ? [] : [`t${index - 1}`] }))
    expect(tasksOf(chain)).toHaveLength(100_000)
    expect(tasksOf(chain.toReversed())).toHaveLength(100_000)
  })
})

describe('the shape of a graph is checked (R-53)', () => {
  it.each([
    [null, '$ | A graph must be a list of tasks or an object with tasks; got null.'],
    ['x', '$ | A graph must be a list of tasks or an object with tasks; got "x".'],
    [[], '$ | The list of tasks is empty; a graph needs at least one task.'],
    [{ tasks: [] }, '$.tasks | The list of tasks is empty; a graph needs at least one task.'],
    [{ tasks: {} }, '$.tasks | tasks must be a list of tasks; got an empty object.'],
    [{}, '$ | The graph has no tasks; got an empty object. | { "tasks": [ … ] }'],
    [{ task: [{ id: 'a' }], tasks: [{ id: 'a' }] }, '$.task | The graph: "task" is no key of a graph. | tasks'],
    [{ name: 1, tasks: [{ id: 'a' }] }, '$.name | The graph: name must be text; got 1.'],
    [{ version: [], tasks: [{ id: 'a' }] }, '$.version | The graph: version must be text or a number; got an empty list.'],
    [{ priority: 1, tasks: [{ id: 'a' }] }, '$.priority | The graph: "priority" is one level too high; it belongs into a task. | tasks[…].priority'],
    [['a'], '$[0] | A task must be an object with at least an id; got "a".'],
  ])('refuses %j', (value, fault) => {
    expect(faultsOf(value)).toEqual([fault])
  })

  it('tells a graph that sets what only the configuration may set why it can\'t (SEMANTICS 12)', () => {
    expect(faultsOf({ env: {}, tasks: [{ id: 'a' }] })).toEqual([
      '$.env | The graph: env can\'t be set by a graph, since it would change the environment of a child. Set it in the configuration or on the command line.',
    ])
  })
})

describe('ids are checked (R-53)', () => {
  it.each([
    ['has a space', 'has-a-space'], ['-a', 'a'], ['.a', 'a'], ['a..b', 'a.b'], ['a.', 'a'], ['a.lock', 'a'], ['a.LOCK', 'a'], ['a/b', 'a-b'], ['é', 'e'],
    ['x'.repeat(65), 'x'.repeat(64)],
  ])('refuses %j and suggests %j', (id, suggestion) => {
    expect(faultsOf([{ id }])).toEqual([expect.stringMatching(/^\$\[0\]\.id \| Task 1: the id ".*" breaks the rule: /)])
    expect(faultsOf([{ id }])[0]?.split(' | ').at(-1)).toBe(suggestion)
  })

  it.each(['A', '1', 'a.b', 'a-b_c', 'x'.repeat(64), 'a.lock.b', 'lock'])('takes %j', id => {
    expect(faultsOf([{ id }])).toEqual([])
  })

  it.each([
    [{}, '$[0].id | Task 1: id is missing; every task needs one.'],
    [{ title: 'Build the app' }, '$[0].id | Task 1: id is missing; every task needs one. | build-the-app'],
    [{ id: 7 }, '$[0].id | Task 1: id must be text; got 7. | "7"'],
    [{ id: null }, '$[0].id | Task 1: id must be text; got null.'],
  ])('refuses a task with %j', (task, fault) => {
    expect(faultsOf([task])).toEqual([fault])
  })

  it('refuses equal ids, with and without regard to case', () => {
    const rule = 'ids must be unique without regard to case.'
    expect(faultsOf([{ id: 'a' }, { id: 'b' }, { id: 'a' }])).toEqual([`$[2].id | Task 3: the id "a" is used twice, first at $[0]; ${rule}`])
    expect(faultsOf({ tasks: [{ id: 'Ab' }, { id: 'aB' }] })).toEqual([`$.tasks[1].id | Task 2: the id "aB" differs from "Ab" only in case, first at $.tasks[0]; ${rule}`])
  })
})

describe('dependencies and executors are checked (R-52, R-53)', () => {
  it('names the nearest id for an unknown dependency', () => {
    expect(faultsOf([{ id: 'build-app', dependencies: ['instal'] }, { id: 'install' }])).toEqual([
      '$[0].dependencies[0] | Task "build-app": there is no task of that id to depend on; got "instal". | install',
    ])
  })

  it('takes a dependency only in the case its id is written', () => {
    expect(faultsOf([{ id: 'a', dependencies: ['B'] }, { id: 'b' }])).toEqual([
      '$[0].dependencies[0] | Task "a": there is no task of that id to depend on; got "B". | b',
    ])
  })

  it('refuses an edge to itself, an edge given twice, and what is no id', () => {
    expect(faultsOf([{ id: 'a', dependencies: ['a', 'b', 'b', 5] }, { id: 'b' }, { id: 'c', dependencies: ['b', 'b'] }]).toSorted()).toEqual([
      '$[0].dependencies[0] | Task "a": it depends on itself; got "a". | remove the entry',
      '$[0].dependencies[2] | Task "a": it lists a dependency twice; got "b". | remove the entry',
      '$[0].dependencies[3] | Task "a": each entry of dependencies must be the id of a task; got 5.',
      '$[2].dependencies[1] | Task "c": it lists a dependency twice; got "b". | remove the entry',
    ])
  })

  it('prints the chain of a cycle', () => {
    expect(faultsOf([{ id: 'a', dependencies: ['b'] }, { id: 'b', dependencies: ['c'] }, { id: 'c', dependencies: ['a'] }, { id: 'd', dependencies: ['a'] }])).toEqual([
      '$[0].dependencies | Tasks wait for each other in a circle: a -> b -> c -> a. "a -> b" reads: a depends on b. | remove one of these dependencies',
    ])
  })

  it('cuts the chain of a long cycle in the middle', () => {
    const circle = Array.from({ length: 50_000 }, (_, index) => ({ id: `t${index}`, dependencies: [`t${(index + 1) % 50_000}`] }))
    const [fault] = faultsOf(circle)
    expect(fault).toContain('t8 -> t9 -> (49981 more) -> t49991 -> ')
    expect(fault).toContain('-> t49999 -> t0.')
  })

  it('names the known executors for an unknown assignee', () => {
    expect(taskFaults({ assignee: 'openclaud' })).toEqual([
      '$[0].assignee | Task "a": no executor is named "openclaud"; known executors are openclaude, command. | openclaude',
    ])
    expect(taskFaults({ assignee: 'echo' }, { trusted: true, executors: ['openclaude', 'command', 'echo'] })).toEqual([])
  })

  it('reports no follow-up fault for a task whose id breaks the rule', () => {
    expect(faultsOf([{ id: 'bad id' }, { id: 'b', dependencies: ['bad id'] }])).toHaveLength(1)
  })
})

describe('the fields of a task are checked', () => {
  it.each([
    [{ title: 1 }, '$[0].title | Task "a": title must be text; got 1.'],
    [{ description: null }, '$[0].description | Task "a": description must be text; got null (leave the key out for the default).'],
    [{ description: 'a\0b' }, '$[0].description | Task "a": description must not hold a NUL character; got "a\\u0000b".'],
    [{ acceptanceCriteria: 1 }, '$[0].acceptanceCriteria | Task "a": acceptanceCriteria must be text or a list of texts; got 1.'],
    [{ acceptanceCriteria: ['a', 2] }, '$[0].acceptanceCriteria[1] | Task "a": each entry of acceptanceCriteria must be text; got 2.'],
    [{ dependencies: 'b' }, '$[0].dependencies | Task "a": dependencies must be a list of task ids; got "b".'],
    [{ priority: 'high' }, '$[0].priority | Task "a": priority must be a number; got "high".'],
    [{ priority: Number.NaN }, '$[0].priority | Task "a": priority must be a number; got NaN.'],
    [{ assignee: 3 }, '$[0].assignee | Task "a": assignee must be text; got 3.'],
    [{ model: '-x' }, '$[0].model | Task "a": model must not start with "-" or hold control characters; got "-x".'],
    [{ model: ' ' }, '$[0].model | Task "a": model must be text that is not blank; got " ".'],
    [{ maxAttempts: 0 }, '$[0].maxAttempts | Task "a": maxAttempts must be a whole number of at least 1; got 0.'],
    [{ expectTests: 1.5 }, '$[0].expectTests | Task "a": expectTests must be a whole number of at least 0; got 1.5.'],
    [{ paths: 'src' }, '$[0].paths | Task "a": paths must be a list of file patterns; got "src".'],
    [{ paths: ['/etc'] }, '$[0].paths[0] | Task "a": a pattern of paths must be relative to the work tree; got "/etc".'],
    [{ mayEdit: ['a/../b'] }, '$[0].mayEdit[0] | Task "a": a pattern of mayEdit must not climb out of the work tree with ".."; got "a/../b".'],
    [{ mayEdit: ['!x'] }, '$[0].mayEdit[0] | Task "a": a pattern of mayEdit must not be negated; got "!x".'],
    [{ paths: ['a\\b'] }, '$[0].paths[0] | Task "a": a pattern of paths must use forward slashes; got "a\\\\b".'],
    [{ timeouts: [] }, '$[0].timeouts | Task "a": timeouts must be an object of clocks in milliseconds; got an empty list.'],
    [{ timeouts: { idle: 1 } }, '$[0].timeouts.idle | Task "a": "idle" is no key of timeouts.'],
    [
      { timeouts: { settleTimeoutMs: 0 } },
      '$[0].timeouts.settleTimeoutMs | Task "a": settleTimeoutMs must be a whole number of milliseconds from 1 to 2147483647 (it can\'t be switched off); got 0.',
    ],
    [
      { timeouts: { maxRuntimeMs: -1 } },
      '$[0].timeouts.maxRuntimeMs | Task "a": maxRuntimeMs must be a whole number of milliseconds from 1 to 2147483647, or 0 for off; got -1.',
    ],
    [{ checks: 'test' }, '$[0].checks | Task "a": checks must be a list of role names (lint, typecheck, build, test) and commands; got "test".'],
    [
      { checks: ['tests'] },
      '$[0].checks[0] | Task "a": "tests" is no check role; a bare name is one of lint, typecheck, build, test, a command is written { name, command }. | test',
    ],
    [{ checks: [{ name: 'x' }] }, '$[0].checks[0].command | Task "a": command must be text that is not blank; got nothing.'],
    [{ checks: [{ name: 'x', command: ' ' }] }, '$[0].checks[0].command | Task "a": command must be text that is not blank; got " ".'],
    [{ checks: [{ name: 'x', command: 'y', require: true }] }, '$[0].checks[0].require | Task "a": "require" is no key of a check. | required'],
    [{ checks: [{ name: 'x', command: 'y', parallel: 1 }] }, '$[0].checks[0].parallel | Task "a": parallel must be true or false; got 1.'],
    [{ checks: [7] }, '$[0].checks[0] | Task "a": a check must be a role name or an object with name and command; got 7.'],
    [{ checks: ['test', { name: 'test', command: 'y' }] }, '$[0].checks[1] | Task "a": two checks are named "test", first $[0].checks[0]; a name stands for one check.'],
    [{ command: 'ls' }, '$[0].command | Task "a": command is only for the executor "command", but the assignee is "openclaude". | "assignee": "command"'],
    [{ assignee: 'command' }, '$[0].command | Task "a": command is missing; a task with the assignee "command" must say what to run.'],
    [{ assignee: 'command', command: '' }, '$[0].command | Task "a": command must be text that is not blank; got "".'],
  ])('refuses %j', (fields, fault) => {
    expect(taskFaults(fields)).toEqual([fault])
  })

  it('refuses a check whose name could not be a file name', () => {
    expect(taskFaults({ checks: [{ name: '../x', command: 'y' }] })).toEqual([expect.stringContaining('the name of a check must start with a letter or digit')])
  })

  it.each([
    ['dependancies', 'dependencies'], ['dependsOn', 'dependencies'], ['needs', 'dependencies'], ['prompt', 'description'], ['Title', 'title'], ['prio', undefined],
    ['acceptanceCriterias', 'acceptanceCriteria'], ['retries', 'maxAttempts'],
  ])('names the nearest valid key for %s (T24)', (key, suggestion) => {
    const fault = `$[0].${key} | Task "a": "${key}" is no key of a task.`
    expect(taskFaults({ [key]: 1 })).toEqual([suggestion === undefined ? fault : `${fault} | ${suggestion}`])
  })

  it.each(['executable', 'env', 'permissionMode', 'extraArgs', 'addDirs', 'workdir', 'cwd', 'provider'])('says why a task can\'t set %s (SEMANTICS 12)', key => {
    expect(taskFaults({ [key]: 'x' })).toEqual([
      expect.stringMatching(new RegExp(String.raw`^\$\[0\]\.${key} \| Task "a": ${key} can't be set by a graph, since it would change .*\. Set it in the configuration`)),
    ])
  })

  it('sends a clock that stands beside timeouts into timeouts (T24)', () => {
    expect(taskFaults({ idleTimeoutMs: 5 })).toEqual([
      '$[0].idleTimeoutMs | Task "a": idleTimeoutMs is one level too high; the clocks of a task stand in timeouts. | timeouts.idleTimeoutMs',
    ])
  })

  it('quotes keys that are no plain names in the path', () => {
    expect(taskFaults({ 'a "b"': 1 })[0]).toMatch(/^\$\[0\]\["a \\"b\\""\] \| /)
  })
})

describe('a graph that a model wrote (SEMANTICS 12)', () => {
  it('may not bring checks or command tasks', () => {
    const reason = 'a graph written by a model may not bring commands until a person has approved it'
    expect(faultsOf([{ id: 'a', checks: ['test'] }, { id: 'b', assignee: 'command', command: 'ls' }], { trusted: false })).toEqual([
      `$[0].checks | Task "a": checks must be left out: ${reason}; got a list of 1.`,
      `$[1].assignee | Task "b": assignee must not be "command": ${reason}; got "command".`,
    ])
  })

  it('may bring everything else', () => {
    expect(faultsOf([{ id: 'a', paths: ['src/**'], maxAttempts: 2 }], { trusted: false })).toEqual([])
  })
})

describe('faults are collected', () => {
  it('lists independent faults of several tasks together (T24)', () => {
    expect(faultsOf([{ id: 'a', dependancies: [] }, { id: 'b', dependencies: ['b', 'c'] }, { id: 'b' }]).map(fault => fault.split(' | ')[0])).toEqual([
      '$[0].dependancies', '$[1].dependencies[0]', '$[2].id', '$[1].dependencies[1]',
    ])
  })

  it('answers a file full of mistakes in bounded time and counts what it does not list', () => {
    const tasks = Array.from({ length: 100_000 }, (_, index) => ({ id: `task-number-${index}`, dependencies: [`tsak-number-${index}`] }))
    const faults = faultsOf(tasks)
    expect(faults).toHaveLength(1_001)
    expect(faults.at(-1)).toBe('$ | 99000 more faults are not listed.')
  })
})
