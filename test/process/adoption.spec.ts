/** F28: the most dangerous assumption of the product. `OC_ADOPTION_INSTANTS` sets how many kills are made; 25 in the gate. */
import { expect, test } from 'vitest'
import { flawlessWorld, runAdoptionRound, seededRandom } from '../support/adoption.ts'

const INSTANTS = Number(process.env['OC_ADOPTION_INSTANTS'] ?? 25)
const SEED = Number(process.env['OC_ADOPTION_SEED'] ?? Date.now() % 2 ** 31)
const TASKS = 6

test(`an engine killed at ${INSTANTS} random instants loses no result and never has two owners of a task (F28)`, { timeout: 60_000 + INSTANTS * 10_000 }, async () => {
  const random = seededRandom(SEED)
  const sum = { kills: 0, adopted: 0, foundEnded: 0, neverStarted: 0 }
  while (sum.kills < INSTANTS) {
    const { world, figures } = await runAdoptionRound(TASKS, random)
    expect(world, `seed ${SEED}, after ${sum.kills} kills`).toEqual(flawlessWorld(TASKS))
    for (const key of ['kills', 'adopted', 'foundEnded', 'neverStarted'] as const) sum[key] += figures[key]
  }
  console.info(`adoption, seed ${SEED}: ${JSON.stringify(sum)}`)
  expect(sum.adopted).toBeGreaterThan(0)
})
