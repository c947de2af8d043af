/**
 * Rules over several keys, applied to the merged configuration. A rule reports, warns, or adjusts what
 * nobody wrote.
 */
import type { ConfigKey, ConfigOrigin, ResolvedConfig } from '../core/config-types.ts'
import { heartbeatMs } from './child-keys.ts'
import type { Surface } from './key-spec.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface CrossRules {
  readonly config: Mutable<ResolvedConfig>
  readonly origins: Record<ConfigKey, ConfigOrigin>
  /** `wrong` goes on after the key. */
  readonly fault: (key: ConfigKey, wrong: string, suggestion?: string) => void
  readonly warn: (message: string) => void
}

export function applyCrossRules(rules: CrossRules, surface: Surface): void {
  checkSessions(rules)
  checkClocks(rules)
  chooseConcurrency(rules)
  chooseAdvisor(rules, surface)
}

/** Resuming a stalled launch needs the session on disk (DESIGN 5.2). */
function checkSessions({ config, origins, fault, warn }: CrossRules): void {
  if (!config.noSessionPersistence || config.maxStalledRestarts === 0) return
  if (origins.maxStalledRestarts === 'default') {
    config.maxStalledRestarts = 0
    warn('noSessionPersistence is on, so a stalled launch can\'t be resumed: maxStalledRestarts is 0.')
  } else {
    fault(
      'noSessionPersistence',
      `can't be true while maxStalledRestarts is ${config.maxStalledRestarts}, since only a stored session can be resumed`,
      'noSessionPersistence: false',
    )
  }
}

function checkClocks({ config, fault, warn }: CrossRules): void {
  const beat = heartbeatMs(config.heartbeat)
  if (beat !== null && config.idleTimeoutMs > 0 && beat >= config.idleTimeoutMs) {
    warn(
      `heartbeat ${config.heartbeat} is not shorter than idleTimeoutMs ${config.idleTimeoutMs}, `
      + 'so the idle clock acts before a missing sign of life is seen.',
    )
  }
  if (config.maxRuntimeMs > 0 && config.maxRuntimeMs < config.idleTimeoutMs) {
    warn(
      `maxRuntimeMs ${config.maxRuntimeMs} is below idleTimeoutMs ${config.idleTimeoutMs}, `
      + 'so a stall is never found before the run time is over.',
    )
  }
  if (config.idleTimeoutMs === 0 && config.maxRuntimeMs === 0) {
    warn('idleTimeoutMs and maxRuntimeMs are both 0: a child that hangs while the model owes an answer is never ended.')
  }
  if (config.maxLineBytes > config.maxStreamBytes) {
    fault('maxLineBytes', `must not be above maxStreamBytes ${config.maxStreamBytes}; got ${config.maxLineBytes}`)
  }
}

/** Two agents in one tree disturb each other; a value that somebody wrote is honoured all the same. */
function chooseConcurrency({ config, origins, warn }: CrossRules): void {
  if (config.workspace !== 'shared') return
  if (origins.maxConcurrency === 'default') config.maxConcurrency = 1
  else if (config.maxConcurrency > 1) {
    warn(
      `maxConcurrency ${config.maxConcurrency} in the shared workspace: children change the same tree at the same time, `
      + 'and a check may judge the work of several.',
    )
  }
}

function chooseAdvisor({ config, fault }: CrossRules, surface: Surface): void {
  if (config.supervisor === 'host' && surface === 'cli') fault('supervisor', 'can be host only inside DSH', 'openclaude')
  if (config.supervisor !== 'openclaude') return
  if (config.supervisorModel === '' && config.supervisorProvider === '') config.supervisorModel = config.model
  if (config.supervisorProvider === '') config.supervisorProvider = config.provider
}
