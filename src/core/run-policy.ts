/** The limits that decisions depend on, taken from the configuration; those without a key are fixed here (SEMANTICS 5). */
import type { ResolvedConfig } from './config-types.ts'
import type { RunPolicy } from './run-types.ts'

const BREAKER_LIMIT = 3
const MAX_SPLIT_DEPTH = 2
const MAX_SPLIT_CHILDREN = 50

type Limits = Pick<ResolvedConfig,
  | 'maxConcurrency' | 'maxRetriesPerTask' | 'maxReworks' | 'maxSupervisionRounds' | 'acceptUnverified'
  | 'supervisorEnabled' | 'supervisor' | 'workspace' | 'maxBudgetUsd' | 'maxBudgetTokens'>

/** @param agents names of the registered executors that are agents. */
export function runPolicy(config: Limits, agents: readonly string[]): RunPolicy {
  const { maxConcurrency, maxRetriesPerTask, maxReworks, maxSupervisionRounds, acceptUnverified } = config
  return {
    maxConcurrency, maxRetriesPerTask, maxReworks, maxSupervisionRounds, acceptUnverified,
    supervised: config.supervisorEnabled && config.supervisor !== 'none',
    maxBudgetUsd: config.maxBudgetUsd === 0 ? null : config.maxBudgetUsd,
    maxBudgetTokens: config.maxBudgetTokens === 0 ? null : config.maxBudgetTokens,
    breakerLimit: BREAKER_LIMIT,
    sharedTree: config.workspace === 'shared',
    maxSplitDepth: MAX_SPLIT_DEPTH,
    maxSplitChildren: MAX_SPLIT_CHILDREN,
    agents,
  }
}
