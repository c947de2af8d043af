import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry } from '../src/entry.ts'

test('an entry holds whole cents', () => {
  const entry: Entry = { date: '2026-01-31', account: 'groceries', cents: -4210 }
  assert.equal(Number.isInteger(entry.cents), true)
})
