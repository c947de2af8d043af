/**
 * The prompt of a launch. A resumed model does not see that it was interrupted: its last tool call is gone from its history while the effects of that call are on disk.
 * So the prompt says what happened and sends it to look at the tree first (DESIGN 5.3). Pure.
 */
import type { LaunchReason } from '../../core/attempt-types.ts'
import { assertNever } from '../../errors.ts'
import type { NextStep } from './attempt-policy.ts'

/** @param original prompt of the attempt. */
export function launchPrompt(original: string, step: Extract<NextStep, { kind: 'relaunch' }>): string {
  if (step.reason === 'first') return original
  if (step.mode === 'resume') return `${interruption(step.reason)}\n\n${LOOK_FIRST}\n\n${FINISH}`
  return `${original}\n\n## What happened before\n\n${interruption(step.reason)} Its conversation is lost.\n\n${LOOK_FIRST}`
}

const LOOK_FIRST = [
  'Everything that was still running was ended. The last command or edit may have happened only in part, and your history may not show it at all.',
  'Look at the working tree first (changed files, half-written files), keep what is right, repair what is not.',
].join(' ')

const FINISH = 'Then finish the task as it was given, and end with the report it asks for.'

function interruption(reason: Exclude<LaunchReason, 'first'>): string {
  switch (reason) {
    case 'stalled':
      return 'The previous run of this task was interrupted from outside because it made no progress for a long time. If a command hung, do not run it in the same way again.'
    case 'overrun':
      return 'The previous run of this task was interrupted from outside because it took longer than one run may take. Go straight for what is missing.'
    case 'resume-refused':
      return 'A previous run of this task was interrupted, and its session could not be continued.'
    case 'engine-restart':
      return 'The previous run of this task was interrupted because the program that supervises it was restarted.'
    case 'killed-externally':
      return 'The previous run of this task was killed by the system, perhaps for lack of memory. Avoid running several heavy commands at once.'
    default:
      return assertNever(reason)
  }
}
