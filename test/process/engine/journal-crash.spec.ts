import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readEntries } from '../../support/journals.ts'
import { startNodeChild } from '../../support/node-child.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const WRITES = 3

/** Starts the writer; resolves with the last number it was told is durable. */
async function write(path: string, crashAt: string): Promise<{ readonly acknowledged: number, readonly signal: string | null }> {
  const child = startNodeChild('journal-child.ts', [path, String(WRITES)], { OC_CRASH_AT: crashAt })
  let acknowledged = 0
  for (let line = await child.nextLine(); line !== null; line = await child.nextLine()) acknowledged = Number(line.split(' ')[1])
  return { acknowledged, signal: (await child.exited).signal }
}

const numbersOf = async (path: string): Promise<readonly number[]> =>
  (await readEntries(path)).flatMap(entry => (entry.kind === 'task-unblocked' ? [Number(entry.task)] : []))

const points = Array.from({ length: WRITES }, (_, index) => ['before', 'mid', 'after'].map(moment => `${index + 1}:${moment}`)).flat()

test.each(points)('F1: killed at journal write %s, the next start loses nothing that was acknowledged and goes on with an intact chain', async (crashAt) => {
  const folder = temporaryFolder()
  const path = join(folder, 'journal.ndjson')
  const crashed = await write(path, crashAt)
  expect([crashed.signal, crashed.acknowledged]).toEqual(['SIGKILL', Number(crashAt[0]) - 1])
  const restarted = await write(path, '')
  expect([restarted.signal, restarted.acknowledged]).toEqual([null, crashAt === `${WRITES}:after` ? 0 : WRITES])
  expect(await numbersOf(path)).toEqual([1, 2, 3])
  expect(readdirSync(folder).filter(name => name.includes('torn'))).toEqual(crashAt.endsWith('mid') ? ['journal.torn-1'] : [])
})

test('F1: a journal survives a crash at every write of every restart', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  for (const moment of ['mid', 'before', 'mid', 'after', 'mid', 'after']) await write(path, `1:${moment}`)
  await write(path, '')
  expect(await numbersOf(path)).toEqual([1, 2, 3])
})

test('a crash point that can not be read is refused, so that no test passes without its crash', async () => {
  const path = join(temporaryFolder(), 'journal.ndjson')
  const child = startNodeChild('journal-child.ts', [path, '1'], { OC_CRASH_AT: '1:sometime' })
  expect((await child.exited).code).toBe(1)
})
