import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { collectContext, type CollectedContext, type ContextRequest } from '../../src/executor/context/context.ts'
import { isSecretFile } from '../../src/executor/context/context-files.ts'
import { renderRepoMap } from '../../src/executor/context/repo-map.ts'
import { taskSpec } from '../support/graph-values.ts'
import { tempProject, type TempProject } from '../support/temp-project.ts'

const FILES = {
  'package.json': JSON.stringify({ name: 'calc', type: 'module', scripts: { test: 'node --test' }, main: './lib/start.js' }),
  'README.md': '# Calc\n```\nnpm i\n```\n',
  'tsconfig.json': '{ "strict": true }\n',
  'lib/start.js': 'start()\n',
  'src/sum.ts': 'export const sum = 1\n',
  'src/deep/other.ts': 'other\n',
  '.env': 'TOKEN=tvly-1\n',
}

function collect(project: TempProject, part: Partial<ContextRequest> = {}): Promise<CollectedContext> {
  return collectContext({
    root: project.root, files: Object.keys(FILES), task: taskSpec({ description: 'Repair `src/sum.ts:1`.' }), strategy: 'full', maxTokens: 20_000, redact: text => text, ...part,
  })
}

const PROJECT = '### Project\n\nPackage: calc, type module\nScripts:\n```\ntest: node --test\n```'
const MAP = '### Files\n\n```\nREADME.md  21 B\npackage.json  88 B\ntsconfig.json  19 B\nlib/\n  start.js  8 B\nsrc/\n  sum.ts  21 B\nsrc/deep/\n  other.ts  6 B\n```'

describe('the context of a prompt', () => {
  it('differs per strategy and holds real data of the project (R-32, R-56, R-96)', async () => {
    const project = tempProject(FILES)
    expect((await collect(project, { strategy: 'minimal' })).text).toBe(PROJECT)
    expect((await collect(project, { strategy: 'repo-map' })).text).toBe(`${PROJECT}\n\n${MAP}`)
    expect(await collect(project)).toEqual({
      truncated: false,
      skipped: [],
      text: [
        PROJECT, MAP,
        '### src/sum.ts\n\n```\nexport const sum = 1\n```',
        '### lib/start.js\n\n```\nstart()\n```',
        '### README.md\n\n````\n# Calc\n```\nnpm i\n```\n````',
        '### tsconfig.json\n\n```\n{ "strict": true }\n```',
      ].join('\n\n'),
    })
  })

  it('quotes the files that the task\'s paths match', async () => {
    const { text } = await collect(tempProject(FILES), { task: taskSpec({ description: '', paths: ['src/deep/**'] }) })
    expect(text).toContain('### src/deep/other.ts\n\n```\nother\n```')
    expect(text).not.toContain('### src/sum.ts')
  })

  it('leaves out files that hold secrets, even when the task names them (R-56, T22)', async () => {
    const { text } = await collect(tempProject(FILES), { task: taskSpec({ description: 'Read .env', paths: ['**'] }) })
    expect(text).not.toContain('tvly-1')
    expect(text).not.toContain('.env')
  })

  it('skips binary, huge, linked and unreadable files with a note (R-56)', async () => {
    const project = tempProject({ ...FILES, 'big.txt': 'x\n'.repeat(200_000), 'key.txt': '-----BEGIN RSA PRIVATE KEY-----\n' })
    writeFileSync(project.path('logo.png'), Buffer.from([0x89, 0x50, 0x00]))
    symlinkSync('/etc/passwd', project.path('link.txt'))
    chmodSync(project.path('lib/start.js'), 0o000)
    const files = ['logo.png', 'big.txt', 'link.txt', 'key.txt', 'ghost.txt']
    const { text, skipped } = await collect(project, { files, task: taskSpec({ description: files.join(' ') }) })
    expect(skipped).toEqual([
      { path: 'logo.png', reason: 'binary' }, { path: 'big.txt', reason: '400000 bytes' }, { path: 'link.txt', reason: 'a link' },
      { path: 'key.txt', reason: 'holds a private key' }, { path: 'ghost.txt', reason: 'unreadable' },
    ])
    expect(text.split('\n').at(-1)).toBe('Not shown: logo.png (binary), big.txt (400000 bytes), link.txt (a link), key.txt (holds a private key), ghost.txt (unreadable)')
  })

  it('replaces secret values in what it quotes (T22)', async () => {
    const { text } = await collect(tempProject({ ...FILES, 'src/sum.ts': 'const key = "tvly-2"\n' }), { redact: value => value.replaceAll('tvly-2', '[KEY]') })
    expect(text).toContain('const key = "[KEY]"')
  })

  it('stays within the cap plus its marker over a huge project, and says what was cut (R-33)', async () => {
    const names = Array.from({ length: 3000 }, (_, n) => `src/folder${n % 60}/file${n}.ts`)
    const project = tempProject({ 'package.json': FILES['package.json'], 'a.ts': 'line of code\n'.repeat(10_000), 'b.ts': 'b\n'.repeat(9000) })
    for (const strategy of ['full', 'minimal', 'repo-map'] as const) {
      const { text } = await collect(project, { files: [...names, 'a.ts', 'b.ts'], strategy, maxTokens: 2000, task: taskSpec({ description: 'a.ts b.ts' }) })
      expect(Buffer.byteLength(text)).toBeLessThan(2000 * 4 + 400)
      if (strategy === 'full') expect(text.split('\n').at(-1)).toMatch(/^\[context cut: \d+ bytes left out to stay within about 2000 tokens\]$/u)
    }
    expect((await collect(project, { maxTokens: 0 })).text).toBe('')
  })

  it('works without a manifest', async () => {
    expect((await collect(tempProject({ 'a.py': '' }), { files: ['a.py'] })).text).toBe('### Files\n\n```\na.py  0 B\n```')
  })
})

describe('files that usually hold secrets', () => {
  it.each([
    '.env', '.env.local', 'config/prod.env', 'server.pem', 'tls.key', 'id_rsa', 'id_ed25519.pub', 'id_work', '.npmrc', 'sub/.yarnrc.yml', '.netrc', 'credentials', 'credentials.json',
    'aws-credentials.csv', 'secrets.yaml', 'client_secret.json', '.ssh/config', 'home/.aws/config', 'terraform.tfstate.backup', 'prod.tfvars', 'API_TOKEN.txt', '.git-credentials',
  ])('%s is one', path => {
    expect(isSecretFile(path)).toBe(true)
  })
  it.each(['src/credentials.ts', 'tokenizer.ts', 'id.ts', 'docs/secrets.md', 'environment.ts', 'keyboard.json', 'package.json', 'src/ssh/config.ts', 'id_map.ts'])('%s is none', path => {
    expect(isSecretFile(path)).toBe(false)
  })
})

describe('the file tree', () => {
  const files = ['a/b/c/d.ts', 'a/b/e.ts', 'f.ts'].map(path => ({ path, size: null }))
  it('loses depth before it loses folders', () => {
    expect(renderRepoMap(files, 1000)).toEqual({ text: 'f.ts\na/b/\n  e.ts\na/b/c/\n  d.ts', complete: true })
    expect(renderRepoMap(files, 18)).toEqual({ text: 'f.ts\na/b/  2 files', complete: false })
    expect(renderRepoMap(files, 8)).toEqual({ text: '3 files', complete: false })
  })
})
