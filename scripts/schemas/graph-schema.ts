/**
 * The shape of a graph file as a schema, for editors. The decoder of `src/core/decode-graph.ts` decides; this describes the same rules
 * as far as a schema can (not: unique ids, known dependencies, cycles), and a test holds both against one corpus of documents.
 */
import { z } from 'zod'
import { TIMEOUT_KEYS } from '../../src/core/graph-keys.ts'
import { CHECK_ROLES } from '../../src/core/graph-types.ts'
import { TASK_ID_PATTERN, TASK_ID_RULE } from '../../src/core/task-id.ts'
import { CHECK_NAME, MAX_COMMAND_LENGTH, MAX_TIMER_MS } from '../../src/core/value-rules.ts'

// Written as texts, so that the patterns stay readable in the schema too.
const ANY = String.raw`^[^\u0000]*$`
const NOT_BLANK = String.raw`(?=[\s\S]*\S)`
const anyText = z.string().regex(new RegExp(ANY))
const commandLine = z.string().regex(new RegExp(String.raw`^${NOT_BLANK}[^\u0000]*$`)).max(MAX_COMMAND_LENGTH)
const argument = z.string().regex(new RegExp(String.raw`^(?!-)${NOT_BLANK}[^\u0000-\u001f\u007f-\u009f]+$`))
const glob = String.raw`^(?!\/)(?!!)(?![A-Za-z]:)(?!(?:[\s\S]*\/)?\.\.(?:\/|$))${NOT_BLANK}[^\u0000\\]+$`
const globs = z.array(z.string().regex(new RegExp(glob))).meta({ id: 'globs' })
const taskId = z.string().regex(new RegExp(TASK_ID_PATTERN)).describe(`The id: ${TASK_ID_RULE}. Unique without regard to case.`).meta({
  id: 'taskId',
})
const time = (zero: 'off' | 'refused'): z.ZodNumber => z.int().min(zero === 'off' ? 0 : 1).max(MAX_TIMER_MS)

const check = z.strictObject({
  name: z.string().regex(CHECK_NAME).describe('Unique within the task.'),
  command: commandLine.describe('A command line, run by sh in the work tree.'),
  timeoutMs: time('refused').optional().describe('Milliseconds; default acceptanceTimeoutMs.'),
  required: z.boolean().optional().describe('Default true: a red one rejects the attempt.'),
  parallel: z.boolean().optional().describe('Default false. True: safe to run beside other checks.'),
}).meta({ id: 'check' })

const timeouts = z.strictObject(Object.fromEntries(
  Object.entries(TIMEOUT_KEYS).map(
    ([key, zero]) => [key, time(zero).optional().describe(zero === 'off' ? 'Milliseconds; 0 = off.' : 'Milliseconds.')],
  ),
)).meta({ id: 'timeouts' })

const common = {
  id: taskId,
  title: anyText.optional().describe('Default: the id.'),
  description: anyText.optional().describe('What is to be done: the prompt of the task.'),
  acceptanceCriteria: z.union([anyText, z.array(anyText)]).optional().describe('What must be true in the end, told to the agent.'),
  dependencies: z.array(taskId).optional().describe('Ids of the tasks whose work this one builds on.'),
  priority: z.number().optional().describe('Higher runs first; default 0.'),
  checks: z.array(z.union([z.enum(CHECK_ROLES), check])).optional()
    .describe(
      'Replaces the run\'s acceptance commands: names of roles and commands. '
      + 'An empty list = no checks, and the verdict is then "unverified".',
    ),
  model: argument.optional().describe('Model for this task.'),
  timeouts: timeouts.optional().describe('Clocks for this task.'),
  maxAttempts: z.int().min(1).optional().describe('Attempts in total, the first included.'),
  paths: globs.optional().describe(
    'Patterns of the files the task is about. Files touched outside are a finding; an empty list = it is to change nothing.',
  ),
  mayEdit: globs.optional().describe('Patterns of files of the judge (tests, lint configuration, manifests) the task may edit.'),
  expectTests: z.int().min(0).optional().describe('The least number of tests the check "test" must report; 0 = an empty run is allowed.'),
}

const agentTask = z.strictObject({
  ...common,
  assignee: z.string().regex(new RegExp(String.raw`^(?!command$)[^\u0000]*$`)).optional().describe(
    'Name of an executor; default openclaude.',
  ),
})

const commandTask = z.strictObject({
  ...common,
  assignee: z.literal('command').describe('The task is a plain command line.'),
  command: commandLine.describe('The command line of the task.'),
})

const tasks = z.array(z.union([agentTask, commandTask])).min(1).meta({ id: 'tasks' })

const graph = z.union([
  tasks,
  z.strictObject({
    $schema: anyText.optional(),
    name: anyText.optional(),
    version: z.union([anyText, z.number()]).optional(),
    description: anyText.optional(),
    tasks,
  }),
])

/** As a JSON Schema document (draft 2020-12). */
export function graphJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(graph), title: 'Task graph of dsh-openclaude' }
}
