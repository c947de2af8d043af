import { expect, test, vi } from 'vitest'
import type { Entry } from '../../../src/core/entry-types.ts'
import type { OpenClaudeError } from '../../../src/errors.ts'
import { GENESIS_HASH } from '../../../src/engine/journal/format.ts'
import { openFileSink } from '../../../src/engine/journal/sink.ts'
import type { JournalSink } from '../../../src/engine/journal/sink.ts'
import { JournalWriter } from '../../../src/engine/journal/writer.ts'
import { createRedactor } from '../../../src/engine/secrets/redact.ts'

const LAZY: Entry = { kind: 'engine-stopping', reason: 'test' }
const SYNCED: Entry = { kind: 'task-unblocked', task: 'a' }

/** A disk that does what the test says: `syncs` holds the pending syncs, oldest first. */
function disk(): { readonly sink: JournalSink, readonly log: string[], readonly syncs: { readonly succeed: () => void, readonly fail: (error: Error) => void }[], failWrite: Error | null } {
  const log: string[] = []
  const syncs: { readonly succeed: () => void, readonly fail: (error: Error) => void }[] = []
  let size = 0
  const state = {
    log, syncs, failWrite: null as Error | null,
    sink: {
      get size() {
        return size
      },
      write: (bytes: Uint8Array) => {
        if (state.failWrite !== null) throw state.failWrite
        log.push(`write ${Buffer.from(bytes).toString().split('\n').length - 1}`)
        size += bytes.length
      },
      sync: () => new Promise<void>((succeed, fail) => {
        log.push('sync')
        syncs.push({ succeed, fail })
      }),
      cutBack: (to: number) => {
        log.push(`cut ${to}`)
      },
      close: () => {
        log.push('close')
      },
    },
  }
  return state
}

function writer(sink: JournalSink, onPoisoned: (error: OpenClaudeError) => void = () => {}): JournalWriter {
  return new JournalWriter(sink, {
    subject: 'journal.ndjson', engine: 1, seq: 0, hash: GENESIS_HASH, redactor: createRedactor({ env: {} }),
    clock: { at: () => '', mono: () => 0 }, crashAt: null, onPoisoned,
  })
}

/** Records in `log` when the promise settles. */
function note(log: string[], name: string, promise: Promise<void>): void {
  void promise.then(() => log.push(`${name} resolved`), (error: unknown) => log.push(`${name} rejected ${error instanceof Error && 'code' in error ? String(error.code) : ''}`))
}

const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('a batch is one write; it waits for a sync only when it holds a kind that demands one', async () => {
  const { sink, log, syncs } = disk()
  const journal = writer(sink)
  note(log, 'lazy', journal.append([LAZY, LAZY]))
  await settled()
  note(log, 'synced', journal.append([LAZY, SYNCED]))
  await settled()
  expect(log).toEqual(['write 2', 'lazy resolved', 'write 2', 'sync'])
  syncs[0]?.succeed()
  await settled()
  expect(log.slice(4)).toEqual(['synced resolved'])
})

test('what is written during a sync is covered by the next one, not by the running one, and appends resolve in their order', async () => {
  const { sink, log, syncs } = disk()
  const journal = writer(sink)
  note(log, 'a', journal.append([SYNCED]))
  note(log, 'b', journal.append([SYNCED]))
  note(log, 'c', journal.append([SYNCED]))
  note(log, 'd', journal.append([LAZY]))
  await settled()
  expect(log).toEqual(['write 1', 'sync', 'write 1', 'write 1', 'write 1'])
  syncs[0]?.succeed()
  await settled()
  expect(log.slice(5)).toEqual(['a resolved', 'sync'])
  syncs[1]?.succeed()
  await settled()
  expect(log.slice(7)).toEqual(['b resolved', 'c resolved', 'd resolved'])
})

test('entries that demand no sync are synced 200 ms later, once, and not at all when another sync took them along', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { sink, log, syncs } = disk()
    const journal = writer(sink)
    await journal.append([LAZY])
    vi.advanceTimersByTime(199)
    await journal.append([LAZY])
    expect(log).toEqual(['write 1', 'write 1'])
    vi.advanceTimersByTime(1)
    expect(log).toEqual(['write 1', 'write 1', 'sync'])
    syncs[0]?.succeed()
    await settled()
    await journal.append([LAZY])
    const synced = journal.append([SYNCED])
    syncs[1]?.succeed()
    await synced
    vi.advanceTimersByTime(1000)
    expect(log.slice(3)).toEqual(['write 1', 'write 1', 'sync'])
  } finally {
    vi.useRealTimers()
  }
})

test('F6: after a failed sync every append rejects, the sync is not tried again, and the engine is told once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { sink, log, syncs } = disk()
    const told: string[] = []
    const journal = writer(sink, error => told.push(error.code))
    note(log, 'a', journal.append([SYNCED]))
    note(log, 'b', journal.append([SYNCED]))
    note(log, 'c', journal.append([LAZY]))
    syncs[0]?.fail(new Error('EIO: i/o error, fdatasync'))
    await settled()
    note(log, 'd', journal.append([LAZY]))
    note(log, 'flush', journal.flush())
    await settled()
    vi.advanceTimersByTime(1000)
    note(log, 'close', journal.close())
    await settled()
    const all = ['a', 'b', 'c', 'd', 'flush', 'close'].map(name => `${name} rejected OC_JOURNAL_WRITE`)
    expect(log.filter(line => line.includes('rejected')).sort()).toEqual(all.sort())
    expect(log.filter(line => !line.includes('rejected'))).toEqual(['write 1', 'sync', 'write 1', 'write 1', 'close'])
    expect([told, journal.poisoned?.message]).toEqual([['OC_JOURNAL_WRITE'],
      'journal.ndjson: entries 1 to 3 could not be made durable (EIO: i/o error, fdatasync). Nothing that depends on them took effect. '
      + 'Free or repair the disk, then run `dsh-openclaude resume`.'])
  } finally {
    vi.useRealTimers()
  }
})

test('a lazy sync that fails poisons the journal although nobody waits for it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { sink, syncs } = disk()
    const told: string[] = []
    const journal = writer(sink, error => told.push(error.code))
    await journal.append([LAZY])
    vi.advanceTimersByTime(200)
    syncs[0]?.fail(new Error('EIO'))
    await settled()
    expect(told).toEqual(['OC_JOURNAL_WRITE'])
    await expect(journal.append([LAZY])).rejects.toMatchObject({ code: 'OC_JOURNAL_WRITE' })
  } finally {
    vi.useRealTimers()
  }
})

test('F5: a failed write is cut back to the last whole line and poisons the journal', async () => {
  const machine = disk()
  const journal = writer(machine.sink)
  await journal.append([LAZY])
  const size = machine.sink.size
  machine.failWrite = new Error('ENOSPC: no space left on device, write')
  await expect(journal.append([LAZY, SYNCED])).rejects.toMatchObject({
    code: 'OC_JOURNAL_WRITE',
    message: expect.stringContaining('2 entries could not be written (ENOSPC: no space left on device, write). The half-written tail was cut off.'),
  })
  machine.failWrite = null
  await expect(journal.append([LAZY])).rejects.toMatchObject({ code: 'OC_JOURNAL_WRITE' })
  expect([machine.log, journal.seq]).toEqual([['write 1', `cut ${size}`], 1])
})

test('close makes everything durable first, and an append after it is refused', async () => {
  const { sink, log, syncs } = disk()
  const journal = writer(sink)
  await journal.append([LAZY])
  const closed = journal.close()
  expect(journal.close()).toBe(closed)
  syncs[0]?.succeed()
  await closed
  expect(log).toEqual(['write 1', 'sync', 'close'])
  await expect(journal.append([LAZY])).rejects.toMatchObject({ code: 'OC_INTERNAL' })
})

test('on a disk that is really full the error says so, and that the tail could not be cut off', async () => {
  const journal = writer(openFileSink('/dev/full', false))
  await expect(journal.append([LAZY])).rejects.toMatchObject({
    code: 'OC_JOURNAL_WRITE', message: expect.stringMatching(/ENOSPC: no space left on device.* could not be cut off either .*the next start sets it aside/),
  })
  await expect(journal.close()).rejects.toMatchObject({ code: 'OC_JOURNAL_WRITE' })
})
