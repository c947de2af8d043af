import { describe, expect, it } from 'vitest'
import { PERMISSION_MODES } from '../../src/config/child-keys.ts'
import { openclaudeFlags, stdinPrompt, type ArgvConfig } from '../../src/executor/openclaude/argv.ts'
import { REPORT_INSTRUCTIONS } from '../../src/executor/stream/report-block.ts'
import { permissionFlags } from '../../src/executor/openclaude/permissions.ts'

const base: ArgvConfig = {
  provider: '', model: '', maxTurns: 50, permissionMode: '', extraArgs: [], addDirs: [], appendSystemPrompt: '', noSessionPersistence: false, heartbeat: '30s',
}
const fresh = { mode: 'fresh', sessionId: 'S' } as const

describe('argv of OpenClaude', () => {
  it('asks for the event stream, an own session, turns, heartbeat and no questions (R-17, R-21, R-22, R-73, R-97)', () => {
    expect(openclaudeFlags(base, fresh)).toEqual([
      '--print', '--output-format', 'stream-json', '--verbose', '--include-partial-messages',
      '--session-id', 'S', '--max-turns', '50', '--heartbeat', '30s', '--yolo',
      '--append-system-prompt', REPORT_INSTRUCTIONS,
    ])
  })

  it('resumes by id and never names a session twice (R-67, R-73)', () => {
    expect(openclaudeFlags(base, { mode: 'resume', sessionId: 'S' })).toEqual([
      '--print', '--output-format', 'stream-json', '--verbose', '--include-partial-messages',
      '--resume', 'S', '--max-turns', '50', '--heartbeat', '30s', '--yolo',
      '--append-system-prompt', REPORT_INSTRUCTIONS,
    ])
  })

  it('puts every option in its place: add-dir last of the flags, extra arguments verbatim at the end (R-15, R-16, R-23, R-25, R-26)', () => {
    const all: ArgvConfig = {
      provider: 'nvidia-nim', model: 'm"1', maxTurns: 7, permissionMode: 'acceptEdits', extraArgs: ['--bare', 'x y'], addDirs: ['/a', '/b'],
      appendSystemPrompt: 'Line 1\nLine 2', noSessionPersistence: true, heartbeat: '15s',
    }
    expect(openclaudeFlags(all, fresh).slice(5)).toEqual([
      '--session-id', 'S', '--max-turns', '7', '--heartbeat', '15s', '--permission-mode', 'acceptEdits',
      '--provider', 'nvidia-nim', '--settings', '{"env":{"OPENAI_MODEL":"m\\"1"}}', '--model', 'm"1',
      '--append-system-prompt', `Line 1\nLine 2\n\n${REPORT_INSTRUCTIONS}`, '--no-session-persistence',
      '--add-dir', '/a', '--add-dir', '/b', '--bare', 'x y',
    ])
  })

  it('passes no flag for what is empty (R-8, R-11, R-21)', () => {
    expect(openclaudeFlags({ ...base, heartbeat: '' }, fresh).slice(5)).toEqual([
      '--session-id', 'S', '--max-turns', '50', '--yolo', '--append-system-prompt', REPORT_INSTRUCTIONS,
    ])
  })

  it('lets the model of a task win over the configured one (R-16)', () => {
    expect(openclaudeFlags({ ...base, model: 'run' }, { ...fresh, model: 'task' })).toContain('{"env":{"OPENAI_MODEL":"task"}}')
    expect(openclaudeFlags({ ...base, model: 'run' }, { ...fresh, model: 'task' })).not.toContain('run')
  })

  it('maps every permission mode (R-22)', () => {
    expect(PERMISSION_MODES.map(mode => permissionFlags(mode).join(' '))).toEqual([
      '--yolo', '--permission-mode acceptEdits', '--permission-mode bypassPermissions', '--permission-mode default', '--permission-mode dontAsk',
      '--permission-mode fullAccess', '--permission-mode plan', '--permission-mode auto',
    ])
  })

  it('keeps a prompt from being read as a slash command (R-74)', () => {
    expect([stdinPrompt('/compact now'), stdinPrompt(' \n/x'), stdinPrompt('fix a/b')])
      .toEqual(['The task:\n/compact now', 'The task:\n \n/x', 'fix a/b'])
  })
})
