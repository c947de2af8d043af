import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONFIG_START, renderConfigPage, renderErrorsPage, replaceConfigBlock } from '../../scripts/docs/render.ts'
import { TASK_KEYS } from '../../src/core/graph-keys.ts'
import { readGraphFile } from '../../src/engine/documents/graph-file.ts'
import { ERROR_CODES } from '../../src/errors.ts'
import { failureOf } from '../support/failure.ts'
import { tempFolder } from '../support/temp-folder.ts'

const root = join(import.meta.dirname, '..', '..')
const page = (name: string): string => readFileSync(join(root, name), 'utf8')

describe('generated documentation (written by scripts/generate-docs.ts)', () => {
  it('is fresh: docs/errors.md', () => {
    expect(page('docs/errors.md')).toBe(renderErrorsPage())
  })

  it('is fresh: docs/configuration.md', () => {
    expect(page('docs/configuration.md')).toBe(renderConfigPage())
  })

  it.each(globSync('README.md', { cwd: root }))('is fresh: the configuration table of %s', name => {
    expect(replaceConfigBlock(page(name))).toBe(page(name))
  })

  it('replaces only what stands between the markers', () => {
    const replaced = replaceConfigBlock(`a\n${CONFIG_START}\nstale row\n<!-- config:end -->\nb\n`)
    expect([replaced.startsWith(`a\n${CONFIG_START}\n| Key |`), replaced.includes('stale row'), replaced.endsWith('|\n<!-- config:end -->\nb\n')]).toEqual([true, false, true])
    expect(replaceConfigBlock('no markers')).toBe('no markers')
  })
})

describe('the table of error codes', () => {
  // Codes whose user is still to be written; a code leaves this list with the part that throws it.
  const AWAITED: readonly string[] = ['OC_ENV_PLATFORM', 'OC_PATCH_REFUSED']

  it('has no code that the source never uses', () => {
    const source = globSync('src/**/*.ts', { cwd: root }).filter(file => file !== join('src', 'errors.ts')).map(page).join('\n')
    expect(Object.keys(ERROR_CODES).filter(code => !source.includes(`'${code}'`) && !AWAITED.includes(code))).toEqual([])
  })
})

describe('docs/writing-graphs.md', () => {
  const text = page('docs/writing-graphs.md')
  const blocks = [...text.matchAll(/^```(yaml invalid|yaml|json|text)\n([\s\S]*?)^```$/gm)].map(([, language = '', content = '']) => ({ language, content }))
  const read = (language: string, content: string): unknown => {
    const folder = tempFolder()
    const path = join(folder, `graph.${language}`)
    writeFileSync(path, content)
    return readGraphFile(path, { trusted: true })
  }

  it.each(blocks.filter(({ language }) => language === 'yaml' || language === 'json'))('holds a graph that is valid: %#', ({ language, content }) => {
    expect(read(language, content)).toMatchObject({ format: language })
  })

  it('shows the answer to its faulty graph word for word', () => {
    const faulty = blocks.find(({ language }) => language === 'yaml invalid')?.content ?? ''
    const { message } = failureOf(() => read('yaml', faulty))
    expect(`${message.replace(/^Graph file \S+/, 'Graph file graph.yaml')}\n`).toBe(blocks.find(({ language }) => language === 'text')?.content)
  })

  it('describes every key of a task, and no other', () => {
    const table = text.slice(text.indexOf('## All keys of a task'), text.indexOf('## What a graph can\'t do'))
    expect([...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, key]) => String(key)).toSorted()).toEqual([...TASK_KEYS].toSorted())
  })
})

describe('README.md', () => {
  it.each([...page('README.md').matchAll(/^```(yaml|json)\n([\s\S]*?)^```$/gm)].map(([, language = '', content = '']) => ({ language, content })))(
    'shows a valid graph: $language', ({ language, content }) => {
      const path = join(tempFolder(), `graph.${language}`)
      writeFileSync(path, content)
      expect(readGraphFile(path, { trusted: true })).toMatchObject({ format: language })
    },
  )

  it('names every command of the program and every page of docs/ is in the index', () => {
    const commands = [...page('src/cli/program.ts').matchAll(/^    usage: '([a-z]+)/gm)].map(([, name]) => name)
    expect(commands.filter(name => !page('README.md').includes(`| \`${name}`))).toEqual([])
    expect(globSync('docs/*.md', { cwd: root }).map(path => basename(path)).filter(name => name !== 'README.md' && !page('docs/README.md').includes(`(${name})`))).toEqual([])
  })
})
