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

test('keepers killed along with the engine cost a repetition, never two owners and never a result (F28)', { timeout: 300_000 }, async () => {
  const random = seededRandom(SEED + 1)
  for (let kills = 0; kills < INSTANTS / 3;) {
    const { world, figures } = await runAdoptionRound(TASKS, random, true)
    const { overlaps, processesLeft, results } = world
    const last = results.map(ends => ends.filter(result => result !== null))
    expect({ overlaps, processesLeft, last }, `seed ${SEED}, after ${kills} kills`).toEqual({ overlaps: [], processesLeft: [], last: flawlessWorld(TASKS).results })
    kills += figures.kills
  }
})
