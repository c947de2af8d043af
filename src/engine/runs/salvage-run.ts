/** `doctor --salvage`: repairs the journal of a run under the repository lock; the damaged original is kept beside it. */
import type { ConfigWithOrigins } from '../../core/config-types.ts'
import { salvageJournal, type Salvage } from '../journal/salvage.ts'
import { acquireLock } from '../state/lock.ts'
import { findRun } from '../state/run-folder.ts'
import { openRepository, resolveStateDir } from '../state/state-dir.ts'

/** @param run empty = the newest. @throws OC_RUN_UNKNOWN, OC_LOCK_HELD, OC_JOURNAL_VERSION. */
export async function salvageRun({ config }: ConfigWithOrigins, run: string): Promise<Salvage & { readonly run: string }> {
  const place = await openRepository(resolveStateDir(config.stateDir), config.workdir)
  const folder = await findRun(place, run)
  const lock = await acquireLock(place.dir)
  try {
    return { run: folder.id, ...await salvageJournal(folder.journalPath) }
  } finally {
    await lock.release()
  }
}
