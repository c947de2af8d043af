/**
 * The public interface of the package: start, resume, control and read runs from a program, and bring executors of your own.
 * Named exports only; everything that is not listed here may change without notice.
 */
export { resolveConfig, type ConfigContext, type ConfigLayer, type ConfigLayers } from './config.ts'
export type { ConfigKey, ConfigOrigin, ConfigWithOrigins, ResolvedConfig } from './core/config-types.ts'
export { decodeGraph, type DecodedGraph, type DecodeGraphOptions } from './core/decode-graph.ts'
export type { Graph, CheckSpec, TaskId, TaskSpec, TaskTimeouts } from './core/graph-types.ts'
export type { Entry, HandoffAnswer, RunResult } from './core/entry-types.ts'
export type { AttemptOutcome, LaunchFact, Usage } from './core/attempt-types.ts'
export type { Decision, Evidence, Grade, Verdict } from './core/evidence-types.ts'
export type { ControlCommand } from './core/run-types.ts'
export { ERROR_CODES, OpenClaudeError, type ErrorCode, type Fault } from './errors.ts'
export { readGraphFile, type GraphFile } from './engine/documents/graph-file.ts'
export type { EngineEnd, EngineObserver } from './engine/drive/engine.ts'
export type { ActiveRun, FinishedRun } from './engine/runs/active-run.ts'
export {
  controlRun, readRun, resumeRun, startRun, type ResumedRun, type RunsContext, type SentControl, type StartRequest,
} from './engine/runs/runs.ts'
export type { RunSnapshot } from './engine/runs/read-run.ts'
export type { AttemptActivity, AttemptEndRequest, AttemptHandle, AttemptPorts, AttemptRequest, Executor } from './executor/executor.ts'
export { newExecutorRegistry, type ExecutorRegistry } from './executor/registry.ts'
export { reportSchema, type Report, type ReportAttempt, type ReportLaunch, type ReportTask } from './report/report-schema.ts'
export type { Advisor, AdvisorModel } from './supervision/ports.ts'
export { PRODUCT_VERSION } from './version.ts'
