/** The interval that `--heartbeat` asks for: a whole number followed by `ms`, `s` or `m`. Null for an empty or unreadable one: then the event-loop clock is off. */
export function heartbeatIntervalMs(heartbeat: string): number | null {
  const [, amount, unit] = /^(\d+)(ms|s|m)$/.exec(heartbeat) ?? []
  if (amount === undefined || unit === undefined) return null
  return Number(amount) * (unit === 'ms' ? 1 : unit === 's' ? 1000 : 60_000)
}
