import { describe, expect, it } from 'vitest'
import { nameFinder } from '../../src/core/nearest-name.ts'

describe('nameFinder', () => {
  it.each([
    ['dependancies', 'dependencies'], ['DEPENDENCIES', 'dependencies'], ['id', 'id'], ['ix', 'id'], ['xx', undefined], ['', undefined], ['model', 'model'], ['mdoel', 'model'],
    ['completely different', undefined],
  ])('finds for %j %j', (name, nearest) => {
    expect(nameFinder(['id', 'dependencies', 'model']).nearest(name)).toBe(nearest)
  })

  it('stops after its budget of comparisons', () => {
    const finder = nameFinder(['aaaa', 'aaab'], 2)
    expect([finder.nearest('aaac'), finder.nearest('aaac')]).toEqual(['aaaa', undefined])
  })
})
