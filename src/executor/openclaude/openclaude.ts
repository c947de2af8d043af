/** The executor `openclaude`: wiring of configuration, environment and pre-flight around `openclaude-attempt.ts`. */
import type { ResolvedConfig } from '../../core/config-types.ts'
import { type EnvMode, openclaudeEnv } from '../process/child-env.ts'
import { newEndRequests } from '../end-requests.ts'
import type { Executor } from '../executor.ts'
import { OpenClaudeAttempt } from './attempt.ts'
import { preflightOpenclaude } from './preflight.ts'
import { removeSessions, sessionStore } from './sessions.ts'

export interface OpenClaudeDeps {
  /** The caller's environment, usually `process.env`. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** `inherit` for the standalone command, `allow-list` inside a host. */
  readonly envMode: EnvMode
  /** Effective user id; null where the platform has none. */
  readonly uid: number | null
  /** Replaces secret values in what the pre-flight quotes of the child. */
  readonly redact: (text: string) => string
}

export function createOpenClaudeExecutor(config: ResolvedConfig, deps: OpenClaudeDeps): Executor {
  const env = openclaudeEnv({ mode: deps.envMode, caller: deps.environment, config })
  return {
    name: 'openclaude',
    agent: true,
    preflight: ({ cwd }) => preflightOpenclaude({ config, cwd, env, uid: deps.uid, redact: deps.redact }),
    start: (request, ports) => {
      const ends = newEndRequests()
      return { outcome: new OpenClaudeAttempt({ config, env, request, ports, ends }).run(), end: ends.add }
    },
    forget: async sessions => {
      const store = sessionStore(env)
      if (store !== null) await removeSessions(store, sessions.map(session => session.sessionId))
    },
  }
}
