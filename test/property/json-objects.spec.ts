import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonObjects } from '../../src/core/json-objects.ts'

const object = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, noNullPrototype: true })
/** Prose without a brace can't open an object. */
const prose = fc.string().map(text => text.replaceAll('{', '('))

describe('objects in prose', () => {
  it('are found whole and in order, whatever is in their strings and around them (R-101)', () => {
    fc.assert(fc.property(fc.array(fc.tuple(prose, object, fc.nat(4)), { maxLength: 5 }), prose, (pieces, last) => {
      const text = pieces.map(([before, value, indent]) => `${before}${JSON.stringify(value, null, indent)}`).join('') + last
      expect(findJsonObjects(text)).toEqual(pieces.map(([, value]) => JSON.parse(JSON.stringify(value)) as unknown))
    }))
  })

  it('never make the scanner throw', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('{', '}', '"', '\\', '\n', 'a', ':', ',', '`') , maxLength: 60 }), text => {
      expect(Array.isArray(findJsonObjects(text))).toBe(true)
    }))
  })
})
