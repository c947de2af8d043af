import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OpenClaudeError } from '../../src/errors.ts'
import { changedFiles, unifiedDiff } from '../../src/workspace/diff.ts'
import { createSharedWorkspace } from '../../src/workspace/shared.ts'
import type { TreeSnapshot } from '../../src/workspace/workspace.ts'
import { tempProject, type TempProject } from '../support/temp-project.ts'

interface Opened {
  readonly snapshot: () => Promise<TreeSnapshot>
  readonly diff: (before: TreeSnapshot, after: TreeSnapshot, maxBytes?: number) => Promise<string>
}

async function open(project: TempProject): Promise<Opened> {
  const provider = await createSharedWorkspace(project.root)
  const workspace = await provider.prepare('t', 1, { freshTree: false })
  return {
    snapshot: () => provider.snapshot(workspace),
    diff: (before, after, maxBytes = 10_000) => unifiedDiff(workspace, changedFiles(before, after), { maxBytes }),
  }
}

function repository(files: Readonly<Record<string, string>>): TempProject {
  const project = tempProject(files)
  project.git('init', '-q')
  project.git('add', '-A')
  project.git('commit', '-qm', 'base')
  return project
}

const MTIME_S = 1_700_000_000

describe('a shared workspace', () => {
  it('is the work directory itself, for every attempt, and landing there needs no commit', async () => {
    const project = tempProject()
    const provider = await createSharedWorkspace(project.root)
    const workspace = await provider.prepare('a', 1, { freshTree: true })
    expect(workspace).toEqual({ kind: 'shared', root: realpathSync(project.root), cwd: realpathSync(project.root) })
    expect(await provider.prepare('b', 7, { freshTree: false })).toEqual(workspace)
    expect(await provider.land('a', 1, workspace)).toEqual({ kind: 'landed', commit: null })
  })

  it('refuses a work directory that is missing, is a file, or vanishes later (R-14, F32)', async () => {
    const project = tempProject({ file: '', 'work/a': '' })
    for (const name of ['absent', 'file']) {
      await expect(createSharedWorkspace(project.path(name))).rejects.toMatchObject({ code: 'OC_WORKDIR_INVALID' })
    }
    const provider = await createSharedWorkspace(project.path('work'))
    const workspace = await provider.prepare('a', 1, { freshTree: false })
    rmSync(project.path('work'), { recursive: true })
    await expect(provider.prepare('a', 2, { freshTree: false })).rejects.toBeInstanceOf(OpenClaudeError)
    await expect(provider.snapshot(workspace)).rejects.toBeInstanceOf(OpenClaudeError)
  })
})

describe('a snapshot', () => {
  it('holds tracked and untracked files of a repository, but nothing ignored and nothing of .git', async () => {
    const project = repository({ '.gitignore': 'out/\n', 'src/a.ts': 'a', 'gone.ts': 'g' })
    project.write('out/made.js', 'x')
    project.write('new file.ts', 'n')
    rmSync(project.path('gone.ts'))
    const { files } = await (await open(project)).snapshot()
    expect([...files.keys()]).toEqual(['.gitignore', 'new file.ts', 'src/a.ts'])
  })

  it('walks a folder without git and leaves out installed packages and caches', async () => {
    const project = tempProject({ 'a.txt': '1', 'node_modules/x/i.js': '', '.cache/y': '', 'deep/er/b.txt': '2' })
    const { files } = await (await open(project)).snapshot()
    expect([...files.keys()]).toEqual(['a.txt', 'deep/er/b.txt'])
  })

  it('walks a folder that an enclosing repository ignores as a whole', async () => {
    const outer = tempProject({ '.gitignore': '*\n', 'project/a.txt': '1' })
    outer.git('init', '-q')
    const provider = await createSharedWorkspace(outer.path('project'))
    const { files } = await provider.snapshot(await provider.prepare('t', 1, { freshTree: false }))
    expect([...files.keys()]).toEqual(['a.txt'])
  })

  it('is equal while nothing changes and differs by content, executable bit, link target, name and presence', async () => {
    const project = repository({ 'a.ts': 'one', 'b.ts': 'two', 'run.sh': 'x' })
    symlinkSync('a.ts', project.path('link'))
    const { snapshot } = await open(project)
    const first = await snapshot()
    expect(await snapshot()).toEqual(first)
    expect(await (await open(project)).snapshot()).toEqual(first)

    project.write('a.ts', 'uno')
    chmodSync(project.path('run.sh'), 0o755)
    rmSync(project.path('b.ts'))
    rmSync(project.path('link'))
    symlinkSync('run.sh', project.path('link'))
    project.write('c.ts', 'two')
    expect(changedFiles(first, await snapshot())).toEqual({ added: ['c.ts'], modified: ['a.ts', 'link', 'run.sh'], deleted: ['b.ts'] })

    project.write('a.ts', 'one')
    chmodSync(project.path('run.sh'), 0o644)
    project.write('b.ts', 'two')
    rmSync(project.path('link'))
    symlinkSync('a.ts', project.path('link'))
    rmSync(project.path('c.ts'))
    expect(await snapshot()).toEqual(first)
  })

  it('sees a rewrite of equal length whose modification time was put back', async () => {
    const project = repository({ 'a.ts': 'one' })
    utimesSync(project.path('a.ts'), MTIME_S, MTIME_S)
    const { snapshot } = await open(project)
    // Only a hash of a file that has been left alone for a while is remembered.
    await expect.poll(() => Date.now() - statSync(project.path('a.ts')).ctimeMs, { timeout: 20_000 }).toBeGreaterThan(300)
    const first = await snapshot()
    project.write('a.ts', 'two')
    utimesSync(project.path('a.ts'), MTIME_S, MTIME_S)
    expect(changedFiles(first, await snapshot()).modified).toEqual(['a.ts'])
  })

  it('sees every one of 200 rewrites of equal length in a row', async () => {
    const project = tempProject({ 'a.ts': '1000' })
    const { snapshot } = await open(project)
    const seen = new Set<string>()
    for (let n = 0; n < 200; n += 1) {
      project.write('a.ts', String(1000 + n))
      seen.add((await snapshot()).fingerprint)
    }
    expect(seen.size).toBe(200)
  })

  it('never follows a link, be it a file, a folder in the place of a tracked folder, or a cycle', async () => {
    const outside = tempProject({ 'secret.txt': 'outside' })
    const project = repository({ 'dir/secret.txt': 'inside', 'a.txt': '' })
    rmSync(project.path('dir'), { recursive: true })
    symlinkSync(outside.root, project.path('dir'))
    symlinkSync('.', project.path('self'))
    const { snapshot } = await open(project)
    const first = await snapshot()
    expect([...first.files.keys()]).toEqual(['a.txt', 'dir', 'self'])
    outside.write('secret.txt', 'changed')
    expect(await snapshot()).toEqual(first)
  })

  it('covers the files of a repository inside the tree, tracked as a link or not', async () => {
    const project = repository({ 'a.txt': '' })
    mkdirSync(project.path('inner'))
    project.git('-C', 'inner', 'init', '-q')
    project.write('inner/f.txt', '1')
    const { snapshot } = await open(project)
    const untracked = await snapshot()
    expect([...untracked.files.keys()]).toEqual(['a.txt', 'inner/f.txt'])
    project.git('-C', 'inner', 'add', '-A')
    project.git('-C', 'inner', 'commit', '-qm', 'inner')
    project.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner')
    project.write('inner/f.txt', '2')
    expect(changedFiles(untracked, await snapshot())).toEqual({ added: [], modified: ['inner/f.txt'], deleted: [] })
  })

  it('runs nothing that the repository or the environment configures', async () => {
    const project = repository({ 'a.txt': '', '.gitignore': 'ignored\n', 'ignored': '' })
    const trap = `#!/bin/sh\ntouch '${project.path('trapped')}'\n`
    project.write('.git/hooks/post-index-change', trap)
    project.write('.git/trap', trap)
    for (const name of ['.git/hooks/post-index-change', '.git/trap']) chmodSync(project.path(name), 0o755)
    project.git('config', 'core.fsmonitor', project.path('.git/trap'))
    project.git('config', 'diff.external', project.path('.git/trap'))
    const previous = process.env['GIT_DIR']
    process.env['GIT_DIR'] = '/nonexistent'
    try {
      const { snapshot, diff } = await open(project)
      const before = await snapshot()
      project.write('a.txt', 'changed')
      const after = await snapshot()
      expect(await diff(before, after)).toContain('+changed')
      expect([...after.files.keys()]).toEqual(['.gitignore', 'a.txt'])
      expect(existsSync(project.path('trapped'))).toBe(false)
    } finally {
      if (previous === undefined) delete process.env['GIT_DIR']
      else process.env['GIT_DIR'] = previous
    }
  })

  it('takes 20,000 unchanged files without reading them again', async () => {
    const files = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`d${n % 200}/f${n}.ts`, `export const x = ${n}\n`]))
    const project = tempProject(files)
    project.git('init', '-q')
    project.git('add', '-A')
    const { snapshot } = await open(project)
    const first = await snapshot()
    expect(first.files.size).toBe(20_000)
    await expect.poll(async () => {
      const startedAt = performance.now()
      await snapshot()
      return performance.now() - startedAt
    }, { timeout: 60_000 }).toBeLessThan(2_000)
  })
})

describe('the diff of an attempt', () => {
  it('shows changed, new and deleted files as unified diff', async () => {
    const project = repository({ 'a.ts': 'one\ntwo\n', 'gone.ts': 'g\n' })
    const { snapshot, diff } = await open(project)
    const before = await snapshot()
    project.write('a.ts', 'one\nthree\n')
    project.write('sub/new.ts', 'n1\nn2')
    rmSync(project.path('gone.ts'))
    const text = (await diff(before, await snapshot())).replaceAll(/^index .*\n/gmu, '')
    expect(text).toBe([
      'diff --git a/a.ts b/a.ts', '--- a/a.ts', '+++ b/a.ts', '@@ -1,2 +1,2 @@', ' one', '-two', '+three',
      'diff --git a/gone.ts b/gone.ts', 'deleted file mode 100644', '--- a/gone.ts', '+++ /dev/null', '@@ -1 +0,0 @@', '-g',
      'diff --git a/sub/new.ts b/sub/new.ts', 'new file', '--- /dev/null', '+++ b/sub/new.ts', '@@ -0,0 +1,2 @@', '+n1', '+n2',
      '\\ No newline at end of file', '',
    ].join('\n'))
  })

  it('works without git, where it can show only the new side', async () => {
    const project = tempProject({ 'a.ts': 'one\n', 'gone.ts': 'g\n' })
    const { snapshot, diff } = await open(project)
    const before = await snapshot()
    project.write('a.ts', 'two\n')
    rmSync(project.path('gone.ts'))
    expect(await diff(before, await snapshot())).toBe([
      '# deleted: gone.ts',
      'diff --git a/a.ts b/a.ts', '# changed; shown whole, since no earlier version is known', '--- /dev/null', '+++ b/a.ts', '@@ -0,0 +1,1 @@', '+two', '',
    ].join('\n'))
  })

  it('is empty for an unchanged tree and says where it was cut', async () => {
    const project = repository({ 'a.ts': '' })
    const { snapshot, diff } = await open(project)
    const before = await snapshot()
    expect(await diff(before, before)).toBe('')
    project.write('a.ts', 'line of text\n'.repeat(1000))
    const text = await diff(before, await snapshot(), 500)
    expect(text.length).toBeLessThan(600)
    expect(text.split('\n').at(-2)).toMatch(/^# cut: \d+ bytes or more are not shown$/u)
  })
})
