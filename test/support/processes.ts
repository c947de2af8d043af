/** Facts about processes for tests. PID 1 of a container may not reap: a zombie counts as gone. */
import { readdirSync, readFileSync } from 'node:fs'

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3))
  } catch {
    return false
  }
}

/** Living processes whose environment holds `name=value`. */
export function withEnvironment(name: string, value: string): number[] {
  return readdirSync('/proc').filter(entry => /^\d+$/.test(entry)).map(Number).filter(pid => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${name}=${value}`) && isAlive(pid)
    } catch {
      return false
    }
  })
}

/** Polls until `probe` gives something other than null, undefined or false. */
export async function until<T>(probe: () => T | Promise<T>, what: string, ceilingMs = 20_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + ceilingMs
  for (;;) {
    const found = await probe()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`Waited ${ceilingMs} ms in vain for: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
