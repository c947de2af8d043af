/** A complete configuration for tests of single parts: the documented defaults, short graces, nothing from the machine. */
import type { ResolvedConfig } from '../../src/core/config-types.ts'

export function testConfig(changes: Partial<ResolvedConfig> = {}): ResolvedConfig {
  return {
    executable: ['openclaude'], workdir: '.', provider: '', model: '', maxTurns: 50, permissionMode: '', extraArgs: [], env: {}, envPass: [], addDirs: [],
    appendSystemPrompt: '', noSessionPersistence: false, keepSessions: false, heartbeat: '',
    firstEventTimeoutMs: 120_000, idleTimeoutMs: 240_000, toolTimeoutMs: 660_000, agentToolTimeoutMs: 1_200_000, backgroundTimeoutMs: 600_000,
    settleTimeoutMs: 30_000, maxRuntimeMs: 3_600_000, killGraceMs: 1000, watchdog: 'enforce', maxStalledRestarts: 2,
    maxStreamBytes: 1_073_741_824, maxLineBytes: 8_388_608, onEngineDeath: 'adopt',
    maxConcurrency: 2, maxRetriesPerTask: 3, maxReworks: 2, maxSupervisionRounds: 5, maxBudgetUsd: 0, maxBudgetTokens: 0, workspace: 'shared',
    stateDir: '', storePath: '', persistence: true, contextStrategy: 'full', contextMaxTokens: 20_000,
    test: '', lint: '', typecheck: '', build: '', additionalCommands: [], acceptanceTimeoutMs: 600_000, packageManager: '', acceptUnverified: false,
    supervisorEnabled: true, supervisor: 'none', supervisorProvider: '', supervisorModel: '', supervisorMaxTokens: 4096, supervisorTemperature: 0.2,
    supervisorTimeoutMs: 120_000, patchMode: 'suggest', ...changes,
  }
}
