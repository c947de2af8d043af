import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRun, ensureAttemptFolder, findRun, launchFolder, listRuns } from '../../../src/engine/state/run-folder.ts'
import { locateRepository, openRepository, resolveStateDir } from '../../../src/engine/state/state-dir.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const git = (cwd: string, ...args: readonly string[]): void => {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd, stdio: 'ignore' })
}

function project(): { readonly root: string, readonly state: string, readonly repo: string } {
  const root = temporaryFolder()
  const repo = join(root, 'My Repo!')
  mkdirSync(join(repo, 'packages', 'app'), { recursive: true })
  git(repo, 'init', '-q')
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'first')
  return { root, state: join(root, 'state', 'deep'), repo }
}

const modeOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8)

test('without a choice the state lives under XDG_STATE_HOME when that is absolute, else under the home folder', () => {
  expect([
    resolveStateDir('', { XDG_STATE_HOME: '/x/state' }), resolveStateDir('', { XDG_STATE_HOME: 'relative' }), resolveStateDir('', {}), resolveStateDir('/a/b/../c', {}),
  ]).toEqual(['/x/state/dsh-openclaude', join(homedir(), '.local/state/dsh-openclaude'), join(homedir(), '.local/state/dsh-openclaude'), '/a/c'])
  expect(() => resolveStateDir('a/b', {})).toThrow(expect.objectContaining({ code: 'OC_STATE_DIR' }))
})

test('subfolders and linked worktrees of one repository share its state folder, a clone has its own', async () => {
  const { root, state, repo } = project()
  git(repo, 'worktree', 'add', '-q', join(root, 'linked'))
  git(root, 'clone', '-q', repo, 'My Clone')
  const dirs = await Promise.all([repo, join(repo, 'packages', 'app'), join(root, 'linked'), join(root, 'My Clone')].map(async dir => (await locateRepository(state, dir)).dir))
  expect(dirs.map(dir => dirs.indexOf(dir))).toEqual([0, 0, 0, 3])
  expect(dirs[0]).toMatch(/\/state\/deep\/My-Repo-[0-9a-f]{12}$/)
})

test('git variables of the caller do not lead to another repository', async () => {
  const { root, state, repo } = project()
  const other = join(root, 'other')
  mkdirSync(other)
  git(other, 'init', '-q')
  const expected = (await locateRepository(state, repo)).key
  process.env['GIT_DIR'] = join(other, '.git')
  try {
    expect((await locateRepository(state, repo)).key).toBe(expected)
  } finally {
    delete process.env['GIT_DIR']
  }
})

test('a folder outside of any repository is keyed by its real path, through a link too', async () => {
  const root = temporaryFolder()
  mkdirSync(join(root, 'plain'))
  symlinkSync(join(root, 'plain'), join(root, 'link'))
  const [plain, link] = await Promise.all(['plain', 'link'].map(name => locateRepository(join(root, 'state'), join(root, name))))
  expect([plain?.commonDir, link]).toEqual([null, plain])
})

test('a missing or wrong work directory is named', async () => {
  const root = temporaryFolder()
  writeFileSync(join(root, 'file'), '')
  await expect(openRepository(join(root, 'state'), join(root, 'absent'))).rejects.toMatchObject({ code: 'OC_WORKDIR_INVALID' })
  await expect(openRepository(join(root, 'state'), join(root, 'file'))).rejects.toMatchObject({ code: 'OC_WORKDIR_INVALID' })
  expect(readdirSync(root)).toEqual(['file'])
})

test('folders are 0700 and files 0600; a repository folder that became wider is narrowed, a state root of the user is left', async () => {
  const { state, repo } = project()
  mkdirSync(state, { recursive: true, mode: 0o755 })
  const place = await openRepository(state, repo)
  chmodSync(place.dir, 0o755)
  await openRepository(state, repo)
  const run = await createRun(place)
  const attempt = await ensureAttemptFolder(run, { index: 0, id: 'a' }, 1)
  const paths = [place.dir, place.controlDir, place.evidenceDir, place.runsDir, run.dir, attempt, join(place.dir, 'repo.json'), state]
  expect(paths.map(modeOf)).toEqual(['700', '700', '700', '700', '700', '700', '600', '755'])
  expect(JSON.parse(readFileSync(join(place.dir, 'repo.json'), 'utf8'))).toEqual({ key: place.key, workdir: place.workdir, commonDir: join(repo, '.git') })
  expect([attempt, launchFolder(attempt, 2)]).toEqual([join(run.dir, 't0-a/a1'), join(run.dir, 't0-a/a1/l2')])
})

test('F7: a state folder of another user is refused before anything starts', async (context) => {
  if (process.geteuid?.() !== 0) context.skip('only root can give folders away')
  const { state, repo } = project()
  mkdirSync(state, { recursive: true })
  chownSync(state, 12345, 12345)
  await expect(openRepository(state, repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR', message: expect.stringContaining('belongs to user 12345, and this is user 0') })
  expect(readdirSync(state)).toEqual([])
})

test('F7: a state folder that can not be created, or is a file, is refused', async () => {
  const { root, repo } = project()
  writeFileSync(join(root, 'file'), '')
  await expect(openRepository(join(root, 'file'), repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR' })
  await expect(openRepository(join(root, 'file', 'below'), repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR' })
  await expect(openRepository('/proc/self/state', repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR', message: expect.stringContaining("/proc/self/state can't be created") })
})

test('F7: a read-only state folder is refused for a user who is bound by modes', async () => {
  const root = temporaryFolder()
  const state = join(root, 'state')
  const workdir = join(root, 'plain')
  mkdirSync(workdir)
  mkdirSync(state)
  const before = process.geteuid?.()
  if (before === 0) {
    for (const path of [root, workdir, state]) chownSync(path, 65534, 65534)
    process.seteuid?.(65534)
  }
  try {
    chmodSync(state, 0o555)
    await expect(openRepository(state, workdir)).rejects.toMatchObject({ code: 'OC_STATE_DIR', message: expect.stringMatching(/^State folder .*\/state.* can't be (written|created): EACCES/) })
  } finally {
    process.seteuid?.(before ?? 0)
  }
})

test('a link outside of the work tree may lead to the state; one inside it, where children write, may not', async () => {
  const { root, state, repo } = project()
  mkdirSync(state, { recursive: true })
  symlinkSync(state, join(root, 'good'))
  symlinkSync(state, join(repo, 'bad'))
  expect((await openRepository(join(root, 'good'), repo)).dir.startsWith(`${state}/`)).toBe(true)
  await expect(openRepository(join(repo, 'bad'), repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR', message: expect.stringContaining('symbolic link inside the work tree') })
  symlinkSync(join(root, 'nowhere'), join(root, 'dangling'))
  await expect(openRepository(join(root, 'dangling'), repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR' })
  await expect(openRepository(join(repo, 'bad', 'below'), repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR' })
})

test('a link below the state root redirects nothing', async () => {
  const { root, state, repo } = project()
  const place = await openRepository(state, repo)
  renameSync(place.runsDir, join(root, 'elsewhere'))
  symlinkSync(join(root, 'elsewhere'), place.runsDir)
  await expect(openRepository(state, repo)).rejects.toMatchObject({ code: 'OC_STATE_DIR', message: expect.stringContaining('runs is a symbolic link') })
})

test('run ids are never used twice and sort in the order of creation, also after the clock went back', async () => {
  const { state, repo } = project()
  const place = await openRepository(state, repo)
  const noon = new Date('2026-01-02T12:00:00.900Z')
  const yesterday = new Date('2026-01-01T12:00:00Z')
  const runs = []
  for (const now of [noon, noon, yesterday]) runs.push((await createRun(place, now)).id)
  expect(runs.map(id => id.slice(0, -5))).toEqual(['20260102-120000', '20260102-120001', '20260102-120002'])
  expect((await listRuns(place)).map(run => run.id)).toEqual(runs.toReversed())
})

test('a run is found by nothing (the newest), by its id, by its beginning and by its last four characters', async () => {
  const { state, repo } = project()
  const place = await openRepository(state, repo)
  await expect(findRun(place)).rejects.toMatchObject({ code: 'OC_RUN_UNKNOWN', message: 'This repository has no run yet.' })
  const first = await createRun(place, new Date('2026-01-02T12:00:00Z'))
  const second = await createRun(place, new Date('2026-02-02T12:00:00Z'))
  const found = await Promise.all(['', first.id, '202601', second.id.slice(-4)].map(text => findRun(place, text)))
  expect(found.map(run => run.id)).toEqual([second.id, first.id, first.id, second.id])
  await expect(findRun(place, '2026')).rejects.toMatchObject({ message: `"2026" fits several runs: ${second.id}, ${first.id}.` })
  await expect(findRun(place, 'zzz')).rejects.toMatchObject({ message: `"zzz" is no run of this repository. The newest: ${second.id}, ${first.id}.` })
})

test('looking for a repository that has no state creates nothing', async () => {
  const { state, repo, root } = project()
  const place = await locateRepository(state, repo)
  expect(await listRuns(place)).toEqual([])
  expect(readdirSync(root)).toEqual(['My Repo!'])
})
