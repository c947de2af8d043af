import { describe, expect, test } from 'vitest'
import { stateDifference } from '../../src/core/state-difference.ts'

describe('the difference of two states', () => {
  test.each([
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }, null],
    [{ a: [1, { b: 1 }] }, { a: [1, { b: 2 }] }, '.a[1].b'],
    [{ a: 1 }, { a: 1, b: 2 }, ''],
    [{ a: 1 }, { b: 1 }, '.a'],
    [{ a: {} }, { a: null }, '.a'],
    [new Map([['x', { y: 1 }]]), new Map([['x', { y: 2 }]]), '.x.y'],
    [new Set(['x']), new Set(['y']), '.x'],
    [Number.NaN, Number.NaN, null],
  ])('of %j and %j is at %j', (left, right, expected) => {
    expect(stateDifference(left, right)).toBe(expected)
  })

  test('follows circles once', () => {
    const circle = (): { self?: unknown } => {
      const object: { self?: unknown } = {}
      object.self = object
      return object
    }
    expect(stateDifference(circle(), circle())).toBeNull()
  })
})
