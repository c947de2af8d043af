/** The fingerprint of the work tree around a launch, taken so that it can never keep a child from being ended. */
import type { AttemptPorts } from './executor.ts'

const LIMIT_MS = 10_000

/** Null when the tree can't be read, or not within 10 s. Never rejects. */
export async function snapshotTree(ports: Pick<AttemptPorts, 'fingerprint'>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>(resolve => {
    timer = setTimeout(() => resolve(null), LIMIT_MS)
  })
  const tree = Promise.resolve().then(() => ports.fingerprint()).catch(() => null)
  const first = await Promise.race([tree, late])
  clearTimeout(timer)
  return first
}
