/**
 * Checks a scenario that was read from a file: known steps, known keys, needed keys. Owns no values: types of values are trusted,
 * a scenario is written by whoever runs the simulator.
 */
import type { Scenario, StepName } from './scenario.ts'

interface Shape {
  readonly needs: readonly string[]
  readonly may: readonly string[]
}

const SHAPES: Readonly<Record<StepName, Shape>> = {
  'init': { needs: [], may: [] },
  'text': { needs: ['text'], may: ['report', 'chunks', 'chunkMs', 'hangAfterChunks', 'more'] },
  'write': { needs: ['path', 'content'], may: [] },
  'edit': { needs: ['path', 'find', 'replace'], may: ['all'] },
  'delete': { needs: ['path'], may: [] },
  'read': { needs: ['path'], may: [] },
  'bash': { needs: ['command'], may: ['description', 'timeoutMs', 'background'] },
  'tool': { needs: ['name'], may: ['input', 'output', 'isError', 'ms', 'hang'] },
  'helper': { needs: ['description', 'prompt', 'steps'], may: ['answer'] },
  'permission': { needs: ['tool'], may: ['input', 'afterMs', 'toolMs'] },
  'denied': { needs: ['tool'], may: ['input'] },
  'api-retry': { needs: ['delaysMs'], may: ['status', 'error', 'maxRetries', 'from', 'waitMs'] },
  'api-error': { needs: ['text'], may: ['error'] },
  'hang': { needs: [], may: ['ms', 'loop', 'at'] },
  'wait-for-file': { needs: ['path'], may: [] },
  'heartbeat': { needs: [], may: ['state', 'phase', 'fields'] },
  'heartbeats': { needs: ['on'], may: [] },
  'record': { needs: ['record'], may: [] },
  'raw': { needs: [], may: ['text', 'base64', 'to'] },
  'long-line': { needs: ['bytes'], may: ['kind'] },
  'flood': { needs: ['bytes'], may: ['line', 'to'] },
  'split-text': { needs: ['text'], may: ['pieceBytes', 'delayMs'] },
  'spawn': { needs: ['how', 'command'], may: ['ignoreSigterm', 'holdStdout', 'pidFile'] },
  'ignore-signals': { needs: ['signals'], may: [] },
  'result': { needs: [], may: ['subtype', 'isError', 'text', 'stopReason', 'errors', 'numTurns', 'costUsd', 'fields'] },
  'no-result': { needs: [], may: [] },
  'exit': { needs: ['code'], may: [] },
  'die': { needs: ['signal'], may: [] },
  'next-turn': { needs: [], may: [] },
}

const RULE_KEYS = ['name', 'when', 'times', 'setup', 'play']
const WHEN_KEYS = ['prompt', 'promptMatches', 'env', 'launch', 'args', 'history']
const SETUP_KEYS = ['resume', 'sessionId', 'heartbeat', 'cost', 'usagePerReply', 'keepSession', 'ignoreSignals', 'startDelayMs', 'model']
const SCENARIO_KEYS = ['rules', 'otherwise', 'setup']

/** All faults of a scenario as sentences; empty = sound. */
function scenarioFaults(value: unknown): string[] {
  const faults: string[] = []
  if (!isObject(value)) return ['the scenario is not a JSON object']
  unknownKeys(value, SCENARIO_KEYS, 'scenario', faults)
  if (value['setup'] !== undefined) objectWith(value['setup'], SETUP_KEYS, 'setup', faults)
  if (value['otherwise'] !== undefined) stepsFaults(value['otherwise'], 'otherwise', faults)
  if (!Array.isArray(value['rules'])) return [...faults, 'rules: must be a list']
  for (const [index, rule] of value['rules'].entries()) ruleFaults(rule, `rules[${index}]`, faults)
  return faults
}

/** Throws an Error that names every fault and the place the scenario came from. */
export function checkScenario(value: unknown, origin: string): Scenario {
  const faults = scenarioFaults(value)
  if (faults.length > 0) throw new Error(`${origin}: ${faults.join('; ')}`)
  return value as Scenario
}

/** Faults of one step, for a step that arrives on its own. */
export function stepFaults(step: unknown, at: string): string[] {
  const faults: string[] = []
  oneStepFaults(step, at, faults)
  return faults
}

function ruleFaults(rule: unknown, at: string, faults: string[]): void {
  if (!objectWith(rule, RULE_KEYS, at, faults)) return
  if (rule['when'] !== undefined) objectWith(rule['when'], WHEN_KEYS, `${at}.when`, faults)
  if (rule['setup'] !== undefined) objectWith(rule['setup'], SETUP_KEYS, `${at}.setup`, faults)
  stepsFaults(rule['play'], `${at}.play`, faults)
}

function stepsFaults(steps: unknown, at: string, faults: string[]): void {
  if (!Array.isArray(steps)) {
    faults.push(`${at}: must be a list of steps`)
    return
  }
  for (const [index, step] of steps.entries()) oneStepFaults(step, `${at}[${index}]`, faults)
}

function oneStepFaults(step: unknown, at: string, faults: string[]): void {
  const name = isObject(step) ? step['do'] : undefined
  if (!isObject(step) || typeof name !== 'string' || !Object.hasOwn(SHAPES, name)) {
    faults.push(`${at}: unknown step ${JSON.stringify(name)}; known are ${Object.keys(SHAPES).join(', ')}`)
    return
  }
  const shape = SHAPES[name as StepName]
  for (const key of shape.needs) if (step[key] === undefined) faults.push(`${at} (${name}): needs ${key}`)
  unknownKeys(step, ['do', ...shape.needs, ...shape.may], `${at} (${name})`, faults)
  if (name === 'helper') stepsFaults(step['steps'], `${at}.steps`, faults)
}

function objectWith(value: unknown, keys: readonly string[], at: string, faults: string[]): value is Record<string, unknown> {
  if (!isObject(value)) {
    faults.push(`${at}: must be an object`)
    return false
  }
  unknownKeys(value, keys, at, faults)
  return true
}

function unknownKeys(value: Record<string, unknown>, known: readonly string[], at: string, faults: string[]): void {
  for (const key of Object.keys(value)) if (!known.includes(key)) faults.push(`${at}: unknown key ${JSON.stringify(key)}; known are ${known.join(', ')}`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
