import { describe, expect, it } from 'vitest'
import { decodeDecision, type DecodedDecision, type TaskDecoder } from '../../src/core/decode-decision.ts'
import { findJsonObjects } from '../../src/core/json-objects.ts'
import { taskSpec } from '../support/graph-values.ts'

const noTasks: TaskDecoder = () => ({ ok: false, faults: ['no tasks expected'] })
const decode = (answer: string, decodeTasks: TaskDecoder = noTasks): DecodedDecision => decodeDecision(answer, decodeTasks)
const json = (value: unknown): string => JSON.stringify(value)

const ACCEPT = { kind: 'accept', reason: 'all green' }
const RETRY = { kind: 'retry', reason: 'red', guidance: 'fix {a} and "b\\"}"' }

describe('an advisor\'s answer', () => {
  it.each<readonly [string, string]>([
    ['bare', json(RETRY)],
    ['indented', JSON.stringify(RETRY, null, 2)],
    ['fenced', `Here it is:\n\n\`\`\`json\n${JSON.stringify(RETRY, null, 2)}\n\`\`\`\nThat is all.`],
    ['in prose with braces', `The set {a, b} matters, also {} and { "x }. So: ${json(RETRY)} — done {really}.`],
    ['after a code sample', `Look:\n\`\`\`ts\nif (x) { return { "a": f("}") } }\n\`\`\`\n${json(RETRY)}`],
    ['after an object that is no decision', `${json({ note: 'kind of' })} ${json(RETRY)}`],
    ['after an earlier decision', `At first I thought ${json(ACCEPT)}, but no:\n${json(RETRY)}`],
    ['after an object that never ends, fenced', `I saw {"kind": in the log\n\`\`\`json\n${json(RETRY)}\n\`\`\``],
    ['before a decision that is broken', `${json(RETRY)} or {"kind":"accept"}`],
  ])('is read although it is %s (R-101, T21)', (_, answer) => {
    expect(decode(answer)).toEqual({ kind: 'decision', decision: RETRY })
  })

  it.each<readonly [string, string, string]>([
    ['empty', ' \n', 'the answer is empty'],
    ['prose', 'I would accept this.', 'the answer holds no complete JSON object with a "kind"'],
    ['cut off', '{"kind":"patch","reason":"r","edits":[{"path":"a","content":"{\\"kind\\":\\"accept\\",\\"reason\\":\\"x\\"}', 'the answer holds no complete JSON object with a "kind"'],
    ['cut off around a whole decision', `{"kind":"retry","reason":"r","seen":${json(ACCEPT)}`, 'the answer holds no complete JSON object with a "kind"'],
    ['broken around a whole decision', `{"kind":"retry","reason":"r","seen":${json(ACCEPT)},}`, 'the answer holds no complete JSON object with a "kind"'],
    ['quoting a decision in a string', json({ note: json(ACCEPT) }), 'the answer holds no complete JSON object with a "kind"'],
    ['of another kind', '{"kind":"approve","reason":"x"}', '$.kind: Invalid discriminator value. Expected \'accept\' | \'retry\' | \'patch\' | \'split\' | \'escalate\''],
    ['without a reason', '{"kind":"accept","reason":"  "}', '$.reason: must not be empty'],
    ['without guidance', '{"kind":"retry","reason":"x"}', '$.guidance: Invalid input: expected string, received undefined'],
    ['with a key too many', '{"kind":"accept","reason":"x","force":true}', '$: Unrecognized key: "force"'],
    ['a patch without edits', '{"kind":"patch","reason":"x","edits":[]}', '$.edits: Too small: expected array to have >=1 items'],
    ['a patch that finds and deletes', '{"kind":"patch","reason":"x","edits":[{"path":"a","content":null,"find":"y"}]}', '$.edits[0]: an edit with find needs a content to put in its place'],
  ])('is unreadable when it is %s, with the reason (R-60, T21)', (_, answer, reason) => {
    expect(decode(answer)).toEqual({ kind: 'unreadable', reason })
  })

  it('may hold every kind of decision (R-60)', () => {
    const patch = { kind: 'patch', reason: 'r', edits: [{ path: 'a', content: 'x' }, { path: 'b', content: 'y', find: 'z' }, { path: 'c', content: null }] }
    for (const decision of [ACCEPT, { ...RETRY, freshTree: true }, patch, { kind: 'escalate', reason: 'r' }]) {
      expect(decode(json(decision))).toEqual({ kind: 'decision', decision })
    }
  })

  it('hands the tasks of a split to the decoder of tasks (R-61)', () => {
    const answer = json({ kind: 'split', reason: 'r', tasks: [{ id: 'a' }] })
    const tasks = [taskSpec({ id: 'a' })]
    expect(decode(answer, written => {
      expect(written).toEqual([{ id: 'a' }])
      return { ok: true, tasks }
    })).toEqual({ kind: 'decision', decision: { kind: 'split', reason: 'r', tasks } })
    expect(decode(answer, () => ({ ok: false, faults: ['$.tasks[0].id: bad'] }))).toEqual({ kind: 'unreadable', reason: 'the tasks of the split are no tasks: $.tasks[0].id: bad' })
  })
})

describe('the scanner', () => {
  it.each(['{', '{"', '{"a":{', '{}', '"', '{"a":"\n', '\\', '```\n{"'])('stays quick and quiet over a long run of %j', piece => {
    const startedAt = performance.now()
    findJsonObjects(piece.repeat(Math.floor(1_000_000 / piece.length)))
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })

  it('does not look at text beyond its limit', () => {
    expect(findJsonObjects(`${'x'.repeat(1024 * 1024)}{"a":1}`)).toEqual([])
  })
})
