import { describe, expect, it } from 'vitest'
import type { TaskSpec } from '../../src/core/graph-types.ts'
import type { Finding } from '../../src/core/evidence-types.ts'
import { collectFindings } from '../../src/supervision/findings.ts'
import type { TreeSnapshot } from '../../src/workspace/workspace.ts'
import { attemptOutcome } from '../support/graph-values.ts'
import { tempProject } from '../support/temp-project.ts'

const tree = (files: Readonly<Record<string, string>>): TreeSnapshot => ({ fingerprint: JSON.stringify(files), files: new Map(Object.entries(files)) })

const BEFORE = tree({ 'src/a.ts': '1', 'src/b.ts': '1', 'old.ts': '1', 'README.md': '1' })
const AFTER = tree({ 'src/a.ts': '2', 'src/b.ts': '1', 'src/new.ts': '1', 'README.md': '1' })

interface Given {
  readonly claims?: readonly string[]
  readonly task?: Pick<TaskSpec, 'paths' | 'mayEdit'>
  readonly after?: TreeSnapshot
  readonly agent?: boolean
  readonly cwd?: string
  readonly denied?: readonly string[]
}

function findings(given: Given): Promise<readonly Finding[]> {
  const { root } = tempProject({ 'dist/out.js': '', 'pkg/ignored.log': '' })
  const { claims, denied } = given
  const result = denied === undefined ? null : {
    subtype: 'success', isError: false, stopReason: null, text: '', errors: [], turns: 1, denials: denied.map(tool => ({ tool, toolUseId: 'u' })),
  }
  const report = claims === undefined ? { kind: 'absent' } as const
    : { kind: 'present', summary: '', files: claims.map(claim => claim.replace('ROOT', root)), verification: '', unfinished: '' } as const
  return collectFindings({
    task: given.task ?? {},
    workspace: { root, cwd: given.cwd === undefined ? root : `${root}/${given.cwd}` },
    before: BEFORE,
    after: given.after ?? AFTER,
    outcome: attemptOutcome({ report, result }),
    agent: given.agent ?? true,
  })
}

describe('findings over a report', () => {
  it('are none when it names exactly what changed, however it is written (R-62)', async () => {
    expect(await findings({ claims: ['- `src/a.ts` - fixed the sum', './src/new.ts:12', 'ROOT/old.ts (deleted)'] })).toEqual([])
    expect(await findings({ claims: ['src/', 'old.ts'] })).toEqual([])
    expect(await findings({ claims: ['src/*.ts', '"old.ts",'] })).toEqual([])
  })

  it('name claimed files that do not exist or did not change, and changes that nobody claimed (R-62, R-103)', async () => {
    expect(await findings({ claims: ['src/ghost.ts', 'src/b.ts', 'src/a.ts'] })).toEqual([
      { kind: 'claimed-absent', message: 'The report names files that do not exist', files: ['src/ghost.ts'] },
      { kind: 'claimed-unchanged', message: 'The report names files that did not change', files: ['src/b.ts'] },
      { kind: 'changed-unclaimed', message: 'Files changed that the report does not name', files: ['old.ts', 'src/new.ts'] },
    ])
  })

  it('do not call an ignored file absent that is on the disk', async () => {
    expect(await findings({ claims: ['dist/out.js', 'src', 'old.ts'] })).toEqual([])
  })

  it('read claims from the working directory as well as from the root', async () => {
    const after = tree({ ...Object.fromEntries(BEFORE.files), 'pkg/x.ts': '1' })
    expect(await findings({ claims: ['x.ts', 'ignored.log'], cwd: 'pkg', after })).toEqual([])
    expect(await findings({ claims: ['pkg/x.ts'], cwd: 'pkg', after })).toEqual([])
  })

  it('flag an absent report of an agent, not of a command (R-75)', async () => {
    expect(await findings({})).toEqual([{ kind: 'report-absent', message: 'The final text has no report block', files: [] }])
    expect(await findings({ agent: false })).toEqual([])
  })

  it('take "none" as no claim', async () => {
    expect(await findings({ claims: ['none', 'N/A', ''], after: BEFORE })).toEqual([])
  })
})

describe('findings over the tree', () => {
  it('name changes outside the paths of the task, judge files it may edit excepted', async () => {
    const task = { paths: ['src/**'], mayEdit: ['old.ts'] }
    expect(await findings({ agent: false, task })).toEqual([])
    expect(await findings({ agent: false, task: { paths: ['src/a.ts', 'docs/'] } })).toEqual([
      { kind: 'outside-paths', message: 'Files changed outside src/a.ts, docs/', files: ['old.ts', 'src/new.ts'] },
    ])
  })

  it('name every change of a task that is to change nothing', async () => {
    expect(await findings({ agent: false, task: { paths: [] } })).toEqual([
      { kind: 'outside-paths', message: 'Files changed, but the task is to change none', files: ['old.ts', 'src/a.ts', 'src/new.ts'] },
    ])
  })

  it('name the tools that were refused, once each', async () => {
    expect(await findings({ agent: false, denied: ['Write', 'Bash', 'Write'] })).toEqual([
      { kind: 'permission-denied', message: 'Permission was refused for Bash, Write', files: [] },
    ])
  })

  it('stay short over a tree of thousands of changes', async () => {
    const after = tree(Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`f${n}`, '1'])))
    const [found] = await findings({ agent: false, after, task: { paths: [] } })
    expect([found?.files.length, found?.message]).toEqual([100, 'Files changed, but the task is to change none (the first 100 of 3004)'])
  })
})
