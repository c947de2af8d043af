/**
 * The launches of one attempt as this executor knows them: what the journal said at the start plus every fact recorded since.
 * A fact counts only after the journal took it. Also the one place that names launch directories.
 */
import { mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { AttemptLaunches, LaunchFact, LaunchState } from '../core/attempt-types.ts'
import { applyLaunchFact } from '../core/launches.ts'
import type { AttemptPorts, AttemptRequest } from './executor.ts'

export class AttemptLog {
  readonly #request: AttemptRequest
  readonly #ports: AttemptPorts
  readonly launches: AttemptLaunches
  /** Facts reach the journal one after the other, in the order in which they were noticed. */
  #queue: Promise<void> = Promise.resolve()

  constructor(request: AttemptRequest, ports: AttemptPorts) {
    this.#request = request
    this.#ports = ports
    // A copy: the owner of the original folds the same facts into it.
    this.launches = structuredClone(request.launches)
  }

  get last(): LaunchState | undefined {
    return this.launches.launches.at(-1)
  }

  get nextNumber(): number {
    return (this.last?.launch ?? 0) + 1
  }

  /** Rejects when the journal is poisoned; then nothing may be started. */
  record(fact: LaunchFact): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      await this.#ports.record(fact)
      applyLaunchFact(this.launches, fact)
    })
    return this.#queue
  }

  /** Records without waiting. A failure is not lost: the next `record` or `settled` rejects with it. */
  note(fact: LaunchFact): void {
    this.record(fact).catch(() => {})
  }

  /** Rejects when anything that was noted could not be recorded. */
  settled(): Promise<void> {
    return this.#queue
  }

  /** Absolute directory of a launch, and its name relative to the run directory. */
  dirOf(launch: number): { readonly path: string, readonly dir: string } {
    const path = join(this.#request.attemptDir, `l${launch}`)
    return { path, dir: relative(this.#request.runDir, path) }
  }

  makeDir(launch: number): string {
    const { path } = this.dirOf(launch)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  }
}
