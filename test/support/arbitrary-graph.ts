/** Valid graphs for property tests: every key, any text without NUL, edges only to earlier tasks, then shuffled. */
import fc from 'fast-check'
import { CHECK_ROLES, type Graph, type TaskSpec } from '../../src/core/graph-types.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter(value => !value.includes('\0'))
const command = fc.constantFrom('npm run e2e', 'sh -c "exit 1"', 'true && false')
const time = fc.integer({ min: 1, max: 2_147_483_647 })
const timeOrOff = fc.integer({ min: 0, max: 2_147_483_647 })
const globs = fc.array(fc.constantFrom('src/**', '*.ts', 'a b/c', '{x,y}/z', '.github/**'), { maxLength: 3 })

const timeouts = fc.record({
  firstEventTimeoutMs: time, idleTimeoutMs: timeOrOff, toolTimeoutMs: time, agentToolTimeoutMs: time,
  backgroundTimeoutMs: time, settleTimeoutMs: time, maxRuntimeMs: timeOrOff, acceptanceTimeoutMs: time,
}, { requiredKeys: [] })

const check = fc.record(
  { name: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/), command, timeoutMs: time, required: fc.boolean(), parallel: fc.boolean() },
  { requiredKeys: ['name', 'command'] },
)

const checks = fc.uniqueArray(fc.oneof(fc.constantFrom(...CHECK_ROLES), check), { maxLength: 4, selector: item => typeof item === 'string' ? item : item.name })

const priority = fc.double({ noNaN: true, noDefaultInfinity: true }).filter(value => !Object.is(value, -0))

const options = fc.record({
  checks, model: fc.constantFrom('big', 'org/model:free'), timeouts, maxAttempts: fc.integer({ min: 1, max: 9 }),
  paths: globs, mayEdit: globs, expectTests: fc.nat(),
}, { requiredKeys: [] })

const body = fc.record({
  title: text, description: text, acceptanceCriteria: fc.array(text, { maxLength: 3 }), priority, edges: fc.array(fc.nat(), { maxLength: 4 }),
  executor: fc.constantFrom('agent', 'command'), options, place: fc.nat(),
})

const ids = fc.uniqueArray(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/).filter(id => !id.includes('..') && !/(?:\.|\.lock)$/i.test(id)),
  { minLength: 1, maxLength: 12, selector: id => id.toLowerCase() },
)

export const arbitraryGraph: fc.Arbitrary<Graph> = ids.chain(known => fc.tuple(...known.map(() => body)).map(bodies => {
  const tasks = bodies.map(({ edges, executor, options: extra, place, ...common }, index) => {
    const dependencies = [...new Set(index === 0 ? [] : edges.map(edge => known[edge % index] ?? ''))]
    const task: TaskSpec = {
      id: known[index] ?? '', ...common, dependencies, ...executor === 'command' ? { assignee: 'command', command: 'make all' } : { assignee: 'openclaude' }, ...extra,
    }
    return { task, place }
  })
  return { tasks: tasks.toSorted((a, b) => a.place - b.place).map(({ task }) => task) }
}))
