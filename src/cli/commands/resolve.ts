/** `resolve <run> <task> accept|retry|drop --note`: a person's decision, journalled as such; the verdict stays what it was. */
import type { HandoffAnswer } from '../../core/entry-types.ts'
import { OpenClaudeError } from '../../errors.ts'
import type { DriveOptions } from '../drive-run.ts'
import type { CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'
import { sendCommand } from './control.ts'

const ANSWERS: readonly HandoffAnswer[] = ['accept', 'retry', 'drop']

export async function resolveCommand(
  [run = '', task = '', answer = '']: readonly string[],
  options: CommonOptions & DriveOptions & { readonly note?: string },
  output: Output,
): Promise<number> {
  const known = ANSWERS.find(candidate => candidate === answer)
  if (known === undefined) {
    throw new OpenClaudeError('OC_USAGE', `resolve: "${answer}" is no answer; a hand-off takes accept, retry or drop.`, {
      subject: 'resolve', fix: `dsh-openclaude resolve ${run} ${task} accept --note "why"`,
    })
  }
  return sendCommand(run, { kind: 'answer', task, answer: known, note: options.note ?? '' }, options, output)
}
