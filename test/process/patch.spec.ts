import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { FileEdit } from '../../src/core/evidence-types.ts'
import { applyPatch, planPatch, recoverPatch, suggestPatch } from '../../src/supervision/patch.ts'
import type { PatchRoot } from '../../src/supervision/patch-paths.ts'
import type { PatchPlan, PlannedFile } from '../../src/supervision/patch-plan.ts'
import { plannedTree } from '../../src/workspace/planned-tree.ts'
import { createSharedWorkspace } from '../../src/workspace/shared.ts'
import { tempProject, type TempProject } from '../support/temp-project.ts'

const at = (project: TempProject): PatchRoot => ({ root: project.root, forbidden: [project.path('state')] })

const sources = (): TempProject => tempProject({ 'a.ts': 'one\ntwo\nthree\n', 'src/b.ts': 'b\n', 'gone.ts': 'g\n', 'state/x': '' })

const EDITS: readonly FileEdit[] = [
  { path: 'a.ts', find: 'two', content: '2' },
  { path: 'a.ts', find: 'three\n', content: '3' },
  { path: 'new/deep/c.ts', content: 'c\n' },
  { path: 'gone.ts', content: null },
  { path: 'src/b.ts', content: 'B\n' },
]

/** Every file below the root with its content: the world before and after. */
function world(project: TempProject, folder = ''): Readonly<Record<string, string>> {
  return Object.assign({}, ...readdirSync(project.path(folder), { withFileTypes: true }).filter(entry => entry.name !== '.git').map(entry => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    return entry.isDirectory() ? world(project, name) : { [name]: entry.isSymbolicLink() ? 'link' : readFileSync(project.path(name), 'utf8') }
  })) as Record<string, string>
}

function planned(plan: PatchPlan): readonly PlannedFile[] {
  if (plan.kind === 'refused') throw new Error(plan.reasons.join('; '))
  return plan.files
}

const BEFORE = { 'a.ts': 'one\ntwo\nthree\n', 'src/b.ts': 'b\n', 'gone.ts': 'g\n', 'state/x': '' }
const AFTER = { 'a.ts': 'one\n2\n3', 'src/b.ts': 'B\n', 'new/deep/c.ts': 'c\n', 'state/x': '' }

describe('a patch', () => {
  it('edits, makes and deletes files, all of them, and keeps their modes (R-57)', async () => {
    const project = sources()
    chmodSync(project.path('a.ts'), 0o750)
    const files = planned(await planPatch(at(project), EDITS))
    expect(await applyPatch(at(project), files)).toEqual({ kind: 'applied' })
    expect(world(project)).toEqual(AFTER)
    expect(statSync(project.path('a.ts')).mode & 0o777).toBe(0o750)
  })

  it('only suggested leaves every file untouched and writes a diff that git applies (R-34)', async () => {
    const project = sources()
    project.git('init', '-q')
    const files = planned(await planPatch(at(project), EDITS))
    const diff = tempProject().path('attempt/1.diff')
    await suggestPatch(diff, files)
    expect(world(project)).toEqual(BEFORE)
    expect(statSync(diff).mode & 0o777).toBe(0o600)
    project.git('apply', diff)
    expect(world(project)).toEqual(AFTER)
  })

  it('replaces a hard-linked file by a file of its own', async () => {
    const project = sources()
    const outside = tempProject({ shared: 'one\ntwo\nthree\n' })
    renameSync(project.path('a.ts'), project.path('old.ts'))
    linkSync(outside.path('shared'), project.path('a.ts'))
    await applyPatch(at(project), planned(await planPatch(at(project), [{ path: 'a.ts', content: 'x' }])))
    expect(readFileSync(outside.path('shared'), 'utf8')).toBe('one\ntwo\nthree\n')
  })
})

describe('a patch is refused whole, and nothing changes,', () => {
  it.each<readonly [string, FileEdit, string]>([
    ['outside by dots', { path: '../x', content: '' }, '"../x" leaves the work tree'],
    ['outside by inner dots', { path: 'src/../../x', content: '' }, '"src/../../x" leaves the work tree'],
    ['absolute', { path: '/etc/passwd', content: '' }, '"/etc/passwd" is not relative to the work tree'],
    ['in the home folder', { path: '~/x', content: '' }, '"~/x" is not relative to the work tree'],
    ['inside .git', { path: '.git/hooks/pre-commit', content: '' }, '".git/hooks/pre-commit" is inside .git'],
    ['inside .GIT of a submodule', { path: 'sub/.GIT/config', content: '' }, '"sub/.GIT/config" is inside .git'],
    ['with a backslash', { path: 'a\\b', content: '' }, '"a\\\\b" holds a NUL or a backslash'],
    ['empty', { path: '', content: '' }, '"" is empty'],
    ['a folder by its spelling', { path: 'src/', content: '' }, '"src/" is not in its shortest form'],
    ['a folder', { path: 'src', content: '' }, '"src" is no regular file'],
    ['below a file', { path: 'a.ts/b', content: '' }, '"a.ts/b" passes through something that is no folder'],
    ['a link', { path: 'link', content: '' }, '"link" is a symbolic link'],
    ['through a link', { path: 'out/x', content: '' }, '"out/x" passes through a symbolic link'],
    ['in the state directory', { path: 'state/x', content: '1' }, '"state/x" is inside the state directory'],
    ['no text', { path: 'bin', find: 'x', content: '1' }, '"bin" is not readable as UTF-8 text'],
    ['unknown to an edit (T21)', { path: 'ghost.ts', find: 'x', content: '' }, '"ghost.ts" is to be edited, but does not exist'],
    ['unknown to a deletion', { path: 'ghost.ts', content: null }, '"ghost.ts" is to be deleted, but does not exist'],
    ['without the text', { path: 'a.ts', find: 'four', content: '' }, '"a.ts" does not hold the text to replace'],
    ['with the text twice', { path: 'a.ts', find: '\n', content: '' }, '"a.ts" holds the text to replace more than once'],
    ['a folder for another one', { path: 'new', content: '' }, '"new" would be a file and a folder'],
    ['as it is already', { path: 'a.ts', content: 'one\ntwo\nthree\n' }, 'the patch changes nothing'],
  ])('when a file is %s (R-34, R-57)', async (_, edit, reason) => {
    const project = sources()
    const outside = tempProject({ x: '' })
    symlinkSync(outside.path('x'), project.path('link'))
    symlinkSync(outside.root, project.path('out'))
    writeFileSync(project.path('bin'), Buffer.from([0xFF, 0xFE, 0x00]))
    const before = world(project)
    const edits = reason === 'the patch changes nothing' ? [edit] : [...EDITS, edit]
    expect(await planPatch(at(project), edits)).toEqual({ kind: 'refused', reasons: [reason] })
    expect(world(project)).toEqual(before)
  })

  it('when a file changed after the plan', async () => {
    const project = sources()
    const files = planned(await planPatch(at(project), EDITS))
    project.write('src/b.ts', 'other\n')
    expect(await applyPatch(at(project), files)).toEqual({ kind: 'refused', reasons: ['"src/b.ts" changed since the patch was planned'] })
    expect(world(project)).toEqual({ ...BEFORE, 'src/b.ts': 'other\n' })
  })

  it('when a folder became a link after the plan', async () => {
    const project = sources()
    const files = planned(await planPatch(at(project), EDITS))
    renameSync(project.path('src'), project.path('moved'))
    symlinkSync('moved', project.path('src'))
    expect(await applyPatch(at(project), files)).toEqual({ kind: 'refused', reasons: ['"src/b.ts" passes through a symbolic link'] })
  })

  it('when one of its files can\'t be written, with every earlier one rolled back', async () => {
    const project = sources()
    const files = planned(await planPatch(at(project), [...EDITS, { path: 'zz'.repeat(200), content: '1' }]))
    const result = await applyPatch(at(project), files)
    expect(result).toMatchObject({ kind: 'refused', reasons: [expect.stringMatching(/^the files could not be written: /u)] })
    expect(world(project)).toEqual(BEFORE)
    expect(existsSync(project.path('new'))).toBe(false)
  })
})

describe('a patch that a crash cut off', () => {
  const NAMES = ['a.ts', 'gone.ts', 'new/deep/c.ts', 'src/b.ts']
  const fileNames = (name: string): { readonly live: string, readonly fresh: string, readonly old: string } => ({ live: name, fresh: `${name}.oc-patch-new`, old: `${name}.oc-patch-old` })

  /** Plays the steps of an application up to the nth one, as they appear on the disk. */
  function playUntil(project: TempProject, steps: number): void {
    const after = AFTER as Readonly<Record<string, string | undefined>>
    const all: (() => void)[] = []
    for (const { live, fresh, old } of NAMES.map(fileNames)) {
      if (live in BEFORE) all.push(() => linkSync(project.path(live), project.path(old)))
      const content = after[live]
      if (content !== undefined) all.push(() => {
        mkdirSync(project.path('new/deep'), { recursive: true })
        writeFileSync(project.path(fresh), content)
      })
    }
    for (const { live, fresh } of NAMES.map(fileNames)) {
      if (after[live] !== undefined) all.push(() => renameSync(project.path(fresh), project.path(live)))
      else all.push(() => rmSync(project.path(live)))
    }
    for (const { live, old } of NAMES.map(fileNames)) if (live in BEFORE) all.push(() => rmSync(project.path(old)))
    for (const step of all.slice(0, steps)) step()
  }

  it('is taken back, or finished when every file was in place, at each of its steps (SEMANTICS 6)', async () => {
    const states: string[] = []
    for (let steps = 0; steps <= 13; steps += 1) {
      const project = sources()
      const files = planned(await planPatch(at(project), EDITS))
      playUntil(project, steps)
      const state = await recoverPatch(at(project), files)
      states.push(state)
      expect(world(project)).toEqual(state === 'after' ? AFTER : BEFORE)
      if (state === 'before') expect(await applyPatch(at(project), files)).toEqual({ kind: 'applied' })
      expect(world(project)).toEqual(AFTER)
      expect(await recoverPatch(at(project), files)).toBe('after')
    }
    expect(states).toEqual([...Array.from({ length: 10 }, () => 'before'), ...Array.from({ length: 4 }, () => 'after')])
  })

  it('is neither when somebody else changed a file', async () => {
    const project = sources()
    const files = planned(await planPatch(at(project), EDITS))
    project.write('src/b.ts', 'other\n')
    expect(await recoverPatch(at(project), files)).toBe('other')
    expect(world(project)).toEqual({ ...BEFORE, 'src/b.ts': 'other\n' })
  })
})

describe('the planned tree of a patch', () => {
  it('has the fingerprint that the tree has after it', async () => {
    const project = sources()
    chmodSync(project.path('a.ts'), 0o755)
    const provider = await createSharedWorkspace(project.root)
    const workspace = await provider.prepare('t', 1, { freshTree: false })
    const before = await provider.snapshot(workspace)
    const files = planned(await planPatch(at(project), EDITS))
    const expected = plannedTree(before, files)
    expect(expected.fingerprint).not.toBe(before.fingerprint)
    await applyPatch(at(project), files)
    expect(await provider.snapshot(workspace)).toEqual(expected)
  })
})
