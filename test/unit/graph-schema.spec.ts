import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { graphJsonSchema } from '../../scripts/schemas/graph-schema.ts'
import { decodeGraph } from '../../src/core/decode-graph.ts'
import { TASK_KEYS } from '../../src/core/graph-keys.ts'

// The published document itself is read back, not the schema it was written from.
const published = z.fromJSONSchema(graphJsonSchema() as Parameters<typeof z.fromJSONSchema>[0])

const task = (fields: Record<string, unknown>): unknown => [{ id: 'a', ...fields }]
const check = (fields: Record<string, unknown>): unknown => task({ checks: [{ name: 'x', command: 'y', ...fields }] })

const VALID: readonly unknown[] = [
  task({}), { tasks: [{ id: 'a' }] }, { $schema: 's', name: 'n', version: 1, description: 'd', tasks: [{ id: 'a' }] }, { version: '1', tasks: [{ id: 'a' }] },
  task({ title: '', description: 'x\ny', acceptanceCriteria: 'x' }), task({ acceptanceCriteria: ['x'] }), task({ priority: -0.5 }), [{ id: 'a' }, { id: 'b', dependencies: ['a'] }],
  task({ assignee: 'openclaude' }), task({ assignee: 'command', command: 'ls\nls' }), task({ checks: [] }), task({ checks: ['lint', 'typecheck', 'build', 'test'] }),
  check({}), check({ timeoutMs: 1, required: true, parallel: false }), check({ name: 'test:unit' }), task({ model: 'org/model:free' }), task({ timeouts: {} }),
  task({ timeouts: { idleTimeoutMs: 0, maxRuntimeMs: 2_147_483_647, settleTimeoutMs: 1 } }), task({ maxAttempts: 1 }), task({ paths: [], mayEdit: ['src/**', '..a/b..'] }),
  task({ expectTests: 0 }), [{ id: 'a.b' }], [{ id: `${'x'.repeat(64)}` }],
]

const INVALID: readonly unknown[] = [
  null, 'x', 1, {}, [], { tasks: [] }, { tasks: {} }, { task: [] }, { tasks: [{ id: 'a' }], extra: 1 }, { tasks: [{ id: 'a' }], name: 1 }, { tasks: [{ id: 'a' }], version: true },
  [1], [[]], [{}], [{ id: 1 }], [{ id: '' }], [{ id: 'a b' }], [{ id: 'a..b' }], [{ id: 'a.' }], [{ id: 'a.lock' }], [{ id: 'a.LOCK' }], [{ id: '-a' }], [{ id: 'x'.repeat(65) }],
  task({ title: 1 }), task({ title: 'a\0' }), task({ description: null }), task({ acceptanceCriteria: 1 }), task({ acceptanceCriteria: [1] }), task({ acceptanceCriteria: ['\0'] }),
  task({ dependencies: 'b' }), task({ dependencies: [1] }), task({ priority: '1' }), task({ assignee: 1 }), task({ dependancies: [] }), task({ executable: 'x' }), task({ env: {} }),
  task({ command: 'ls' }), task({ assignee: 'command' }), task({ assignee: 'command', command: ' ' }), task({ assignee: 'command', command: 1 }), task({ assignee: 'command', command: 'a\0' }),
  task({ assignee: 'openclaude', command: 'ls' }), task({ assignee: 'command', command: 'x'.repeat(100_001) }),
  task({ checks: 'test' }), task({ checks: ['tests'] }), task({ checks: [1] }), check({ name: '' }), check({ name: '../x' }), check({ name: 'x'.repeat(65) }), check({ command: '' }),
  check({ command: 1 }), check({ timeoutMs: 0 }), check({ timeoutMs: 1.5 }), check({ timeoutMs: 2_147_483_648 }), check({ required: 1 }), check({ parallel: 'yes' }), check({ role: 'test' }),
  task({ checks: [{ name: 'x' }] }), task({ checks: [{ command: 'x' }] }), task({ model: '' }), task({ model: '-m' }), task({ model: 'a\nb' }), task({ model: 1 }), task({ model: ' ' }),
  task({ timeouts: [] }), task({ timeouts: { idle: 1 } }), task({ timeouts: { settleTimeoutMs: 0 } }), task({ timeouts: { idleTimeoutMs: -1 } }), task({ timeouts: { toolTimeoutMs: '1s' } }),
  task({ maxAttempts: 0 }), task({ maxAttempts: 1.5 }), task({ paths: 'x' }), task({ paths: [''] }), task({ paths: ['/x'] }), task({ paths: ['..'] }), task({ paths: ['a/..'] }),
  task({ paths: ['a/../b'] }), task({ paths: ['a\\b'] }), task({ paths: ['!a'] }), task({ paths: ['C:/x'] }), task({ mayEdit: [1] }), task({ expectTests: -1 }), task({ expectTests: '1' }),
]

describe('the published schema of graph files', () => {
  it.each(VALID.map(document => [document]))('and the decoder take %j', document => {
    expect([decodeGraph(document, { trusted: true }).kind, published.safeParse(document).success]).toEqual(['graph', true])
  })

  it.each(INVALID.map(document => [document]))('and the decoder refuse %j', document => {
    expect([decodeGraph(document, { trusted: true }).kind, published.safeParse(document).success]).toEqual(['faults', false])
  })

  it('describes exactly the keys the decoder knows', () => {
    const text = JSON.stringify(graphJsonSchema())
    const { $defs } = JSON.parse(text) as { readonly $defs: { readonly tasks: { readonly items: { readonly anyOf: readonly { readonly properties: object }[] } } } }
    const described = new Set($defs.tasks.items.anyOf.flatMap(({ properties }) => Object.keys(properties)))
    expect([...described].toSorted()).toEqual([...TASK_KEYS].toSorted())
  })
})
