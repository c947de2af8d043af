import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OpenClaudeError } from '../../src/errors.ts'
import { findExecutable } from '../../src/executor/process/find-executable.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'find-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const program = (path: string, text = '#!/bin/sh\n', mode = 0o755): string => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}
const context = (path: string): { env: Record<string, string>, cwd: string } => ({ env: { PATH: path, HOME: join(root, 'home') }, cwd: root })
const failure = (action: () => unknown): OpenClaudeError => {
  try {
    action()
  } catch (error) {
    if (error instanceof OpenClaudeError) return error
    throw error
  }
  throw new Error('Nothing was thrown')
}

describe('search for the executable (R-13)', () => {
  it('takes the first on PATH, and keeps the arguments of a command', () => {
    const second = program('b/openclaude')
    program('c/openclaude')
    expect(findExecutable(['openclaude', '--x'], context(`${root}/a:${root}/b:${root}/c`))).toEqual({ argv: [second, '--x'], interpreter: 'sh' })
  })

  it('takes absolute and relative paths as they are', () => {
    const file = program('tools/openclaude', 'no first line')
    expect(findExecutable([file], context(''))).toEqual({ argv: [file], interpreter: null })
    expect(findExecutable(['./tools/openclaude'], context(''))).toEqual({ argv: [file], interpreter: null })
  })

  it('looks where Homebrew and npm put it while PATH does not say so', () => {
    const places = ['home/homebrew/bin/openclaude', 'home/homebrew/opt/node/bin/openclaude', 'home/.npm-global/bin/openclaude']
    for (const place of places) {
      const file = program(place)
      expect(findExecutable(['openclaude'], context(`${root}/a`)).argv).toEqual([file])
      rmSync(file)
    }
  })

  it('skips a file on PATH that can not be run when a later one can', () => {
    program('a/openclaude', '#!/bin/sh\n', 0o644)
    const file = program('b/openclaude')
    expect(findExecutable(['openclaude'], context(`${root}/a:${root}/b`)).argv).toEqual([file])
  })

  it('lists every place and PATH when nothing is found (T14)', () => {
    const error = failure(() => findExecutable(['openclaude'], context(`${root}/a:${root}/b`)))
    expect(error.code).toBe('OC_CHILD_NOT_FOUND')
    for (const part of [`${root}/a/openclaude`, `${root}/b/openclaude`, `${root}/home/homebrew/bin/openclaude`, `PATH of the child is: ${root}/a:${root}/b.`]) {
      expect(error.message).toContain(part)
    }
  })

  it('tells a file without permission and a missing interpreter apart (F23)', () => {
    const plain = program('a/openclaude', '#!/bin/sh\n', 0o644)
    const bad = program('b/openclaude', '#!/no/such/interpreter\n')
    const env = program('c/openclaude', '#!/usr/bin/env no-such-node\n')
    expect([plain, bad, env].map(file => failure(() => findExecutable([file], context(`${root}/a`)))).map(error => [error.code, error.message])).toEqual([
      ['OC_CHILD_SPAWN', `Executable ${plain} is not executable.`],
      ['OC_CHILD_SPAWN', `Executable ${bad} wants the interpreter "/no/such/interpreter", which does not exist.`],
      ['OC_CHILD_SPAWN', `Executable ${env} wants the interpreter "no-such-node", which is not on the PATH of the child.`],
    ])
  })
})
