import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pruneLaunches } from '../../../src/engine/runs/prune-launches.ts'
import type { RunFolder } from '../../../src/engine/state/run-folder.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const DAY = 24 * 3_600_000

function run(root: string, id: string, finishedAt: string | null, bytes: number): RunFolder {
  const dir = join(root, id)
  mkdirSync(join(dir, 't0-a', 'a1', 'l1'), { recursive: true })
  writeFileSync(join(dir, 't0-a', 'a1', 'l1', 'stdout.ndjson'), 'x'.repeat(bytes))
  writeFileSync(join(dir, 't0-a', 'a1', 'prompt.md'), 'prompt')
  writeFileSync(join(dir, 'journal.ndjson'), 'journal')
  if (finishedAt !== null) writeFileSync(join(dir, 'report.json'), JSON.stringify({ run: { status: 'finished', finishedAt } }))
  return { id, dir, journalPath: join(dir, 'journal.ndjson'), runFile: '', reportJson: join(dir, 'report.json'), reportMarkdown: '' }
}

test('raw output goes after its age or above the size, newest kept; journals, prompts and unfinished runs stay', async () => {
  const root = tempFolder()
  const now = Date.parse('2030-03-01T00:00:00Z')
  const at = (days: number): string => new Date(now - days * DAY).toISOString()
  const open = run(root, 'open', null, 100)
  const [fresh, big, old] = [run(root, 'fresh', at(1), 60), run(root, 'big', at(2), 60), run(root, 'old', at(20), 10)]
  const raw = (of: RunFolder): string => join(of.dir, 't0-a', 'a1', 'l1', 'stdout.ndjson')
  const removed = await pruneLaunches([open, fresh, big, old], { now, maxAgeMs: 14 * DAY, maxBytes: 100 })
  expect(removed).toEqual([raw(big), raw(old)])
  expect([open, fresh, big, old].map(of => existsSync(raw(of)))).toEqual([true, true, false, false])
  expect(existsSync(join(old.dir, 'journal.ndjson')) && existsSync(join(old.dir, 't0-a', 'a1', 'prompt.md'))).toBe(true)
})
