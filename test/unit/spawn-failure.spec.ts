import { expect, test } from 'vitest'
import { checkCwd, classifySpawnError } from '../../src/executor/keeper/spawn-failure.ts'

const subject = { argv: ['tool'], cwd: '/', env: { PATH: '/no/bin::relative' } }
const systemError = (code: string): Error => Object.assign(new Error(`spawn tool ${code}`), { code })

test('a system that is out of files, processes or memory is not the fault of the program (F26)', () => {
  expect(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'].map(code => classifySpawnError(systemError(code), subject))).toEqual(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'].map(code => ({
    reason: 'no-resources',
    message: `The system refused another process or file (${code}); lower the concurrency or raise the limit.`,
    key: `no-resources:${code}`,
  })))
})

test('the places named are those of the environment that the child would get, an empty entry being its directory', () => {
  expect(classifySpawnError(systemError('ENOENT'), subject)).toEqual({
    reason: 'not-found',
    message: 'The program tool was found at none of: /no/bin/tool, /tool, relative/tool. Install it or correct the name.',
    key: 'not-found:tool',
  })
})

test('an error of another kind keeps its text', () => {
  expect(classifySpawnError(systemError('EPERM'), { argv: ['/bin/sh'], cwd: '/', env: {} })).toEqual({
    reason: 'not-executable', message: 'The program /bin/sh could not be executed: spawn tool EPERM.', key: 'not-executable:/bin/sh',
  })
})

test('a working directory that can be entered is no failure', () => {
  expect(checkCwd('/')).toBeNull()
})
