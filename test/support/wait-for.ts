/** Polls a condition until it holds; the ceiling is generous, since other work shares the machine. */
import { setTimeout as delay } from 'node:timers/promises'

export async function waitFor(what: string, condition: () => boolean | Promise<boolean>, ceilingMs = 30_000): Promise<void> {
  const end = performance.now() + ceilingMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited ${ceilingMs} ms in vain until ${what}`)
    await delay(10)
  }
}
