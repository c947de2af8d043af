/**
 * The shape of `report.json`, version 1. The published JSON Schema is generated from it, so reader and writer can't drift.
 * Times are ISO 8601 wall times, durations milliseconds, costs US dollars, paths relative to the run directory unless they are absolute.
 */
import { z } from 'zod'
import { GRADES } from '../core/evidence-types.ts'

export const REPORT_VERSION = 1

const usage = z.strictObject({
  inputTokens: z.number(), outputTokens: z.number(), cacheReadTokens: z.number(), cacheCreationTokens: z.number(),
})

const launch = z.strictObject({
  launch: z.int(),
  mode: z.enum(['fresh', 'resume']),
  reason: z.string(),
  sessionId: z.string(),
  resumeCommand: z.string().nullable().describe('Opens the session by hand; null once the session was removed, or when the executor has none.'),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  adopted: z.int().describe('How often a later engine took the running child over.'),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  exitKnown: z.boolean(),
  endedBy: z.string().nullable().describe('Why it was ended, for example `clock idle`; null when it ended by itself.'),
  swept: z.enum(['clean', 'tainted']).nullable(),
  spawnFailure: z.string().nullable(),
  model: z.string().nullable(),
  usage: usage.nullable(),
  costUsd: z.number(),
  directory: z.string(),
})

const evidence = z.strictObject({
  check: z.string(),
  role: z.string(),
  required: z.boolean(),
  command: z.string(),
  grade: z.enum(GRADES),
  reason: z.string(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  durationMs: z.number(),
  tests: z.int().nullable(),
  logPath: z.string().nullable(),
  cached: z.boolean(),
})

const finding = z.strictObject({ kind: z.string(), message: z.string(), files: z.array(z.string()) })

const attempt = z.strictObject({
  attempt: z.int(),
  kind: z.enum(['first', 'retry', 'rework']),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  durationMs: z.number().nullable(),
  outcome: z.string().nullable(),
  message: z.string().nullable(),
  lastPhase: z.string().nullable(),
  clock: z.string().nullable(),
  denials: z.array(z.string()),
  claims: z.strictObject({ summary: z.string(), files: z.array(z.string()), verification: z.string(), unfinished: z.string() }).nullable()
    .describe('What the child said of its own work; a claim, never proof.'),
  launches: z.array(launch),
  evidence: z.array(evidence),
  verdict: z.strictObject({ kind: z.enum(['verified', 'rejected', 'unverified', 'unchanged']), reason: z.string(), findings: z.array(finding) }).nullable(),
  decisions: z.array(z.strictObject({ round: z.int(), by: z.string(), kind: z.string(), reason: z.string(), at: z.string() })),
  advice: z.array(z.strictObject({ round: z.int(), result: z.string(), reason: z.string(), askFile: z.string().nullable(), answerFile: z.string().nullable() })),
  usage,
  costUsd: z.number(),
})

const task = z.strictObject({
  id: z.string(),
  title: z.string(),
  status: z.enum(['pending', 'blocked', 'active', 'accepted', 'split', 'failed', 'escalated', 'cancelled']),
  reason: z.string().nullable(),
  rootCauses: z.array(z.string()).describe('The tasks that block this one, not its neighbours.'),
  handoff: z.string().nullable(),
  dependencies: z.array(z.string()),
  parent: z.string().nullable(),
  verdict: z.string().nullable(),
  attempts: z.array(attempt),
  answers: z.array(z.strictObject({ answer: z.string(), by: z.string(), note: z.string(), at: z.string() })),
  costUsd: z.number(),
})

export const reportSchema = z.strictObject({
  version: z.literal(REPORT_VERSION),
  run: z.strictObject({
    id: z.string(),
    status: z.enum(['running', 'stopping', 'stopped', 'finished']),
    result: z.enum(['complete', 'incomplete', 'aborted', 'halted']).nullable(),
    resultMessage: z.string().nullable(),
    exitCode: z.int().nullable(),
    createdAt: z.string().nullable(),
    finishedAt: z.string().nullable(),
    durationMs: z.number().nullable(),
    engines: z.int().describe('Engine starts: 1 plus the resumes.'),
    workdir: z.string(),
    graphPath: z.string().nullable(),
    graphSha256: z.string(),
    directory: z.string().describe('Absolute run directory; other paths are relative to it.'),
    product: z.string(),
  }),
  counts: z.record(z.string(), z.int()),
  usage,
  costUsd: z.number(),
  tasks: z.array(task),
  warnings: z.array(z.strictObject({ at: z.string(), code: z.string(), message: z.string(), task: z.string().nullable() })),
})

export type Report = z.infer<typeof reportSchema>
export type ReportTask = Report['tasks'][number]
export type ReportAttempt = ReportTask['attempts'][number]
export type ReportLaunch = ReportAttempt['launches'][number]
