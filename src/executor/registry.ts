/** The executors a run may use, by name. Names are unique; the order of registration is the order of listing. */
import { OpenClaudeError } from '../errors.ts'
import type { Executor } from './executor.ts'

export interface ExecutorRegistry {
  /** Returns a function that takes the executor out again. Throws `OC_CONFIG_INVALID` when the name is taken. */
  readonly registerExecutor: (executor: Executor) => () => void
  readonly get: (name: string) => Executor | undefined
  readonly names: () => readonly string[]
  /** Names of executors whose tasks are expected to change files. */
  readonly agents: () => readonly string[]
}

export function newExecutorRegistry(executors: readonly Executor[] = []): ExecutorRegistry {
  const byName = new Map<string, Executor>()
  const registerExecutor = (executor: Executor): () => void => {
    if (byName.has(executor.name)) {
      throw new OpenClaudeError('OC_CONFIG_INVALID', `Executor "${executor.name}" is registered already.`, {
        subject: `executor "${executor.name}"`,
        fix: 'Give the second executor another name.',
      })
    }
    byName.set(executor.name, executor)
    return () => {
      if (byName.get(executor.name) === executor) byName.delete(executor.name)
    }
  }
  for (const executor of executors) registerExecutor(executor)
  return {
    registerExecutor,
    get: name => byName.get(name),
    names: () => [...byName.keys()],
    agents: () => [...byName.values()].filter(executor => executor.agent).map(executor => executor.name),
  }
}
