/** The facts of an `OpenClaudeError`, for whole-value assertions. */
import { type ErrorCode, type Fault, OpenClaudeError } from '../../src/errors.ts'

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly faults: readonly Fault[]
}

/** Runs `work`, which must throw an `OpenClaudeError`. */
export function failureOf(work: () => unknown): Failure {
  try {
    work()
  } catch (error) {
    if (error instanceof OpenClaudeError) return { code: error.code, message: error.message, faults: error.faults }
    throw error
  }
  throw new Error('Nothing was thrown.')
}
