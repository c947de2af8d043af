import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runPlain } from '../../src/executor/plain/child.ts'
import { createOpenClaudeModel } from '../../src/supervision/openclaude-model.ts'
import type { AdvisorModel } from '../../src/supervision/ports.ts'
import { until } from '../support/processes.ts'
import { tempProject } from '../support/temp-project.ts'

/** Plays the nth step of SCRIPT: an exit code and an envelope, or something rougher. Writes down how it was called. */
const FAKE = `
const fs = require('node:fs')
const log = process.env.LOG
const calls = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\\n').length : 0
const prompt = fs.readFileSync(0, 'utf8')
fs.appendFileSync(log, JSON.stringify({ argv: process.argv.slice(2), prompt, files: fs.readdirSync('.'), cwd: process.cwd() }) + '\\n')
const step = JSON.parse(process.env.SCRIPT)[calls]
if (step === 'hang') setInterval(() => {}, 1000)
else if (step === 'flood') process.stdout.write('x'.repeat(3000000))
else {
  process.stderr.write('openclaude: warming up\\n')
  process.stdout.write(step.out + '\\n', () => process.exit(step.exit))
}
`

const envelope = (part: object, exit = 0): object => ({ exit, out: JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'fine {"a":1}', ...part }) })
const API_DOWN = envelope({ is_error: true, result: 'API Error: 503' }, 1)

interface Call { readonly argv: readonly string[], readonly prompt: string, readonly files: readonly string[], readonly cwd: string }

function fake(script: readonly unknown[], options: { readonly timeoutMs?: number, readonly command?: readonly string[] } = {}): { readonly model: AdvisorModel, readonly calls: () => readonly Call[] } {
  const project = tempProject({ 'fake.cjs': FAKE })
  const model = createOpenClaudeModel({
    runPlain,
    command: options.command ?? [process.execPath, project.path('fake.cjs')],
    modelArgs: ['--model', 'm'],
    env: { PATH: process.env['PATH'] ?? '', LOG: project.path('log'), SCRIPT: JSON.stringify(script) },
    timeoutMs: options.timeoutMs ?? 60_000,
    killGraceMs: 200,
    markerName: 'OC_TEST_MARKER',
    backoffMs: [1, 1],
  })
  const calls = (): readonly Call[] => existsSync(project.path('log')) ? readFileSync(project.path('log'), 'utf8').trim().split('\n').map(line => JSON.parse(line) as Call) : []
  return { model, calls }
}

const never = new AbortController().signal

describe('OpenClaude as the advisor\'s model', () => {
  it('is asked by stdin, in print mode, without tools or session, in an empty folder that is removed (R-41)', async () => {
    const { model, calls } = fake([envelope({})])
    expect(await model.ask('the question', { signal: never })).toBe('fine {"a":1}')
    const [call] = calls()
    expect(call).toMatchObject({
      argv: ['--print', '--output-format', 'json', '--tools', '', '--max-turns', '1', '--no-session-persistence', '--model', 'm'], prompt: 'the question', files: [],
    })
    expect(existsSync(call?.cwd ?? '/')).toBe(false)
  })

  it('is asked again twice after a failed transport, and then gives up with the reason (F34)', async () => {
    const healed = fake([API_DOWN, { exit: 1, out: 'no envelope' }, envelope({})])
    expect(await healed.model.ask('q', { signal: never })).toBe('fine {"a":1}')
    const down = fake([API_DOWN, API_DOWN, API_DOWN, envelope({})])
    await expect(down.model.ask('q', { signal: never })).rejects.toMatchObject({ code: 'OC_ADVISOR_FAILED', message: 'OpenClaude ended with exit 1, success: API Error: 503' })
    expect([healed.calls().length, down.calls().length]).toEqual([3, 3])
  })

  it.each<readonly [string, unknown]>([
    ['an error envelope with exit 0', envelope({ is_error: true, result: 'x' })],
    ['a success envelope with exit 1', envelope({}, 1)],
    ['a result that is no text', envelope({ result: null })],
    ['an error subtype', envelope({ subtype: 'error_max_turns', result: undefined })],
  ])('takes %s for no answer', async (_, step) => {
    await expect(fake([step, step, step]).model.ask('q', { signal: never })).rejects.toMatchObject({ code: 'OC_ADVISOR_FAILED' })
  })

  it('hands an empty answer on at once: it is the advisor that asks once more (T21)', async () => {
    const empty = fake([envelope({ result: '' })])
    expect(await empty.model.ask('q', { signal: never })).toBe('')
    expect(empty.calls()).toHaveLength(1)
  })

  it('is ended at its time limit and at its size limit, and not asked again (F34)', async () => {
    const hanging = fake(['hang'], { timeoutMs: 3000 })
    await expect(hanging.model.ask('q', { signal: never })).rejects.toMatchObject({ message: expect.stringMatching(/^OpenClaude did not answer within \d+ ms$/u) })
    const flooding = fake(['flood'])
    await expect(flooding.model.ask('q', { signal: never })).rejects.toMatchObject({ message: 'OpenClaude\'s answer is longer than 1048576 bytes' })
    expect([hanging.calls().length, flooding.calls().length]).toEqual([1, 1])
  })

  it('says so when the program is missing', async () => {
    await expect(fake([], { command: ['no-such-openclaude'] }).model.ask('q', { signal: never })).rejects.toMatchObject({ code: 'OC_ADVISOR_FAILED' })
  })

  it('ends with the reason of the signal', async () => {
    const { model, calls } = fake(['hang'])
    const controller = new AbortController()
    const settled = model.ask('q', { signal: controller.signal }).then(() => 'answered', (error: unknown) => error)
    await until(() => calls().length > 0, 'the first call')
    const reason = new Error('stop')
    controller.abort(reason)
    expect(await settled).toBe(reason)
  })
})
