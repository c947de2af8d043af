/**
 * Where the scenario comes from and which rule a launch plays. Owns the counters that let "first time this, second time that" work over processes.
 * Environment: OPENCLAUDE_SIM_SCENARIO (file name or JSON), OPENCLAUDE_SIM_STATE (folder; default `<scenario file>.state`).
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scenario, Setup, Step, When } from './scenario.ts'
import { checkScenario } from './step-shapes.ts'

export type SimEnv = Readonly<Record<string, string | undefined>>

export interface LoadedScenario {
  readonly scenario: Scenario
  /** Absent: nothing can be counted over processes. */
  readonly stateDir: string | null
}

/** What a rule is matched against. */
export interface LaunchFacts {
  readonly prompt: string
  readonly argv: readonly string[]
  readonly env: SimEnv
  readonly launch: 'fresh' | 'resume'
  /** Text of the stored conversation; empty for a fresh launch. */
  readonly history: string
}

export interface ChosenPlay {
  readonly rule: string
  /** 1-based count of the rule's uses; 0 when it isn't counted. */
  readonly use: number
  readonly groups: readonly string[]
  readonly setup: Setup
  readonly steps: readonly Step[]
}

const DEFAULT_SCENARIO: Scenario = { rules: [] }
const DEFAULT_PLAY: readonly Step[] = [{ do: 'text', text: 'ok' }]

export function loadScenario(env: SimEnv): LoadedScenario {
  const given = env['OPENCLAUDE_SIM_SCENARIO']
  const stateDir = env['OPENCLAUDE_SIM_STATE'] || null
  if (given === undefined || given === '') return { scenario: DEFAULT_SCENARIO, stateDir }
  if (given.trimStart().startsWith('{')) return { scenario: checkScenario(JSON.parse(given), 'OPENCLAUDE_SIM_SCENARIO'), stateDir }
  return { scenario: checkScenario(JSON.parse(readFileSync(given, 'utf8')), given), stateDir: stateDir ?? `${given}.state` }
}

/** Takes the first rule that matches and is not used up, and counts the use. */
export function choosePlay(loaded: LoadedScenario, facts: LaunchFacts): ChosenPlay {
  const { scenario, stateDir } = loaded
  for (const [index, rule] of scenario.rules.entries()) {
    const groups = match(rule.when ?? {}, facts)
    if (groups === null) continue
    const name = rule.name ?? String(index)
    if (rule.times !== undefined && stateDir === null) throw new Error(`rule ${name}: "times" needs OPENCLAUDE_SIM_STATE, a folder for the counters`)
    const use = stateDir === null ? 0 : takeUse(stateDir, `${name}\n${groups[0] ?? ''}`, rule.times ?? Infinity)
    if (use === null) continue
    return { rule: name, use, groups, setup: { ...scenario.setup, ...rule.setup }, steps: rule.play }
  }
  return { rule: 'otherwise', use: 0, groups: [], setup: scenario.setup ?? {}, steps: scenario.otherwise ?? DEFAULT_PLAY }
}

/** Null: no match; else the capture groups of `promptMatches`. */
function match(when: When, facts: LaunchFacts): readonly string[] | null {
  if (when.prompt !== undefined && !facts.prompt.includes(when.prompt)) return null
  if (when.launch !== undefined && when.launch !== facts.launch) return null
  if (when.history !== undefined && !facts.history.includes(when.history)) return null
  if (when.args !== undefined && !when.args.every(arg => facts.argv.includes(arg))) return null
  for (const [name, value] of Object.entries(when.env ?? {})) if ((facts.env[name] ?? null) !== value) return null
  if (when.promptMatches === undefined) return []
  const found = new RegExp(when.promptMatches, 'su').exec(facts.prompt)
  return found === null ? null : found.slice(1).map(group => group ?? '')
}

/** The next free number up to `limit`, taken by exclusive creation so that two processes never share one. */
function takeUse(stateDir: string, key: string, limit: number): number | null {
  const folder = join(stateDir, 'uses', createHash('sha256').update(key).digest('hex').slice(0, 16))
  mkdirSync(folder, { recursive: true })
  for (let use = 1; use <= limit; use += 1) {
    try {
      writeFileSync(join(folder, String(use)), key, { flag: 'wx' })
      return use
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return null
}

/** Fills the placeholders in every string of a step. */
export function fillStep(step: Step, fill: (text: string) => string): Step {
  return fillValue(step, fill) as Step
}

function fillValue(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map(item => fillValue(item, fill))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, fill)]))
}

/** Replacement of {{name}}: the launch's facts, its capture groups, its environment. Unknown names stay as they are. */
export function filler(facts: LaunchFacts, play: ChosenPlay, places: { readonly cwd: string, readonly session: string }): (text: string) => string {
  return text => text.replaceAll(/\{\{([\w.]+)\}\}/gu, (whole, name: string) => {
    if (name === 'prompt') return facts.prompt
    if (name === 'cwd') return places.cwd
    if (name === 'session') return places.session
    if (name === 'use') return String(play.use)
    if (name.startsWith('env.')) return facts.env[name.slice(4)] ?? ''
    return play.groups[Number(name) - 1] ?? whole
  })
}
