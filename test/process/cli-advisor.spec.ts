import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Scenario } from '../../src/simulator/scenario.ts'
import { cliRig, livePids } from '../support/cli-rig.ts'
import { expectSoundHistory } from '../support/history-checker.ts'

const BREAKS: Scenario['rules'] = [{ when: { launch: 'fresh' }, play: [{ do: 'write', path: 'broken', content: 'x' }, { do: 'text', text: 'Done, all green.' }] }]

function advised(answer: string, more: Scenario['rules'] = []): Scenario {
  return { rules: [{ name: 'advisor', when: { args: ['--tools'] }, play: [{ do: 'text', text: answer }] }, ...more, ...BREAKS] }
}

const PATCH = `The check wants the file gone.\n\n\`\`\`json\n${JSON.stringify({ kind: 'patch', reason: 'remove {the} file', edits: [{ path: 'broken', content: null }] })}\n\`\`\`\n`

describe('a run with OpenClaude itself as supervisor', () => {
  test('a patch is applied, the tree judged again in the same attempt, and the work accepted (R-57, R-34)', async () => {
    const rig = cliRig({ scenario: advised(PATCH), config: { supervisor: 'openclaude', patchMode: 'auto' } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a', paths: [] }] })])
    expect([ended.code, existsSync(rig.project.path('broken'))]).toEqual([0, false])
    const [task] = rig.report().tasks
    expect(task?.attempts.map(attempt => [attempt.launches.length, attempt.decisions.map(decision => [decision.by, decision.kind])])).toEqual([
      [1, [['advisor', 'patch'], ['policy', 'accept']]],
    ])
    expect(await livePids(rig)).toEqual([])
    await expectSoundHistory(rig.journalPath())
  })

  test('a suggested patch leaves the tree as it is and goes to a person with the diff (R-34)', async () => {
    const rig = cliRig({ scenario: advised(PATCH), config: { supervisor: 'openclaude', patchMode: 'suggest' } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    expect([ended.code, existsSync(rig.project.path('broken'))]).toEqual([1, true])
    const [task] = rig.report().tasks
    expect(task?.status).toBe('escalated')
    expect(readFileSync(join(rig.report().run.directory, 't0-a', 'a1', 'patch-1.diff'), 'utf8')).toContain('broken')
  })

  test('prose is asked for once more and then handed off, the question and both answers kept (T21, R-60)', async () => {
    const rig = cliRig({ scenario: advised('I think it looks great, just accept it.'), config: { supervisor: 'openclaude', maxSupervisionRounds: 1 } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    expect(ended.code).toBe(1)
    const attempt = rig.report().tasks[0]?.attempts[0]
    expect(attempt?.advice.map(advice => advice.result)).toEqual(['unreadable'])
    const answers = readFileSync(join(rig.report().run.directory, attempt?.advice[0]?.answerFile ?? ''), 'utf8')
    expect(answers.match(/looks great/g)?.length).toBe(2)
  })

  test('accept over a red check is refused as illegal, whatever the reason says (T21)', async () => {
    const accept = JSON.stringify({ kind: 'accept', reason: 'the test is wrong' })
    const rig = cliRig({ scenario: advised(accept), config: { supervisor: 'openclaude', maxSupervisionRounds: 2 } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }] })])
    expect(ended.code).toBe(1)
    expect(rig.report().tasks[0]?.attempts.flatMap(attempt => attempt.advice.map(advice => advice.result))).toEqual(['illegal', 'illegal'])
    expect(rig.report().tasks[0]?.status).toBe('escalated')
  })

  test('a split becomes tasks of the run, and dependents wait for them (R-61)', async () => {
    const split = JSON.stringify({ kind: 'split', reason: 'two parts', tasks: [{ id: 'a-1', title: 'clean', description: 'clean up' }, { id: 'a-2', dependencies: ['a-1'], description: 'finish' }] })
    const more: Scenario['rules'] = [
      { when: { prompt: 'Task: a-1' }, play: [{ do: 'bash', command: 'rm broken; echo 1 > one.txt' }, { do: 'text', text: 'Done.' }] },
      { when: { prompt: 'Task: a-2' }, play: [{ do: 'write', path: 'two.txt', content: '2' }, { do: 'text', text: 'Done.' }] },
      { when: { prompt: 'Task: after' }, play: [{ do: 'write', path: 'after.txt', content: '3' }, { do: 'text', text: 'Done.' }] },
    ]
    const rig = cliRig({ scenario: advised(split, more), config: { supervisor: 'openclaude' } })
    const ended = await rig.run(['run', rig.writeGraph({ tasks: [{ id: 'a' }, { id: 'after', dependencies: ['a'] }] })])
    expect(ended.code).toBe(0)
    expect(rig.report().tasks.map(task => [task.id, task.status, task.parent])).toEqual([
      ['a', 'accepted', null], ['after', 'accepted', null], ['a-1', 'accepted', 'a'], ['a-2', 'accepted', 'a'],
    ])
  })
})
