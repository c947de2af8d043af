/** Where a turn of the child begins and ends. One process may have several: a background task that ends wakes the model again (OC 0.8). */
import { assertNever } from '../../errors.ts'
import type { ChildRecord } from './child-record.ts'

export function endsTurn(record: ChildRecord): boolean {
  return record.kind === 'result' || (record.kind === 'oversize' && record.type === 'result')
}

/** True for records of the main conversation that only a running turn writes. */
export function opensTurn(record: ChildRecord): boolean {
  switch (record.kind) {
    case 'init':
    case 'api-retry':
      return true
    case 'assistant':
    case 'user':
    case 'stream-event':
      return record.parent === null
    // Its parent is unknown, it may be a helper's in the background.
    case 'oversize':
    case 'heartbeat':
    case 'tool-progress':
    case 'task':
    case 'result':
    case 'other':
    case 'noise':
      return false
    default:
      return assertNever(record)
  }
}
