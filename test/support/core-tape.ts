/** Random worlds for property tests: a graph and a tape of numbers that every choice is drawn from. An empty tape means healthy and in order, so that failures shrink well. */
import fc from 'fast-check'
import type { OutcomeKind } from '../../src/core/attempt-types.ts'
import type { Advice, Decision, Grade } from '../../src/core/evidence-types.ts'
import type { Graph } from '../../src/core/graph-types.ts'
import { judgeVerdict } from '../../src/core/verdict.ts'
import { evidence, outcome, spec, verdict } from './core-facts.ts'
import type { Script } from './core-world.ts'

export interface Tape {
  /** One of `count` choices; 0 once the tape is used up. */
  readonly draw: (count: number) => number
  readonly pick: <T>(first: T, ...others: readonly T[]) => T
}

export function tapeOf(numbers: readonly number[]): Tape {
  let at = 0
  const draw = (count: number): number => {
    const number = numbers[at] ?? 0
    at += 1
    return number % count
  }
  return { draw, pick: (first, ...others) => [first, ...others][draw(others.length + 1)] ?? first }
}

export const tapes = fc.array(fc.nat(1_000_000), { maxLength: 600, size: 'max' })

/** Acyclic: each task depends on earlier ones only; then the file order is shuffled. */
export const graphs: fc.Arbitrary<Graph> = fc.array(
  fc.record({ edges: fc.array(fc.nat(), { maxLength: 3 }), priority: fc.integer({ min: -1, max: 2 }), place: fc.nat(1000) }),
  { minLength: 1, maxLength: 12, size: 'max' },
).map(nodes => ({
  tasks: nodes
    .map(({ edges, priority, place }, index) => ({
      place,
      task: spec(`t${index}`, index === 0 ? [] : [...new Set(edges.map(edge => `t${edge % index}`))], { priority }),
    }))
    .sort((left, right) => left.place - right.place)
    .map(({ task }) => task),
}))

const OUTCOMES: readonly OutcomeKind[] = [
  'agent-error', 'no-result', 'result-oversize', 'stalled', 'overrun', 'permission-wait', 'flooded', 'killed-externally', 'tainted', 'spawn-failed', 'relaunch-limit',
]

/** Every kind of ending, verdict, advice, patch and landing; mostly good ones, so that runs get somewhere. */
export function wildScript(tape: Tape): Script {
  return {
    outcome: () => tape.draw(4) === 1 ? outcome(tape.pick('agent-error', ...OUTCOMES)) : outcome('succeeded'),
    checks: () => [evidence('lint', grade(tape)), evidence('test', grade(tape))],
    verdict: () => {
      const checks = [evidence('lint', grade(tape)), evidence('test', grade(tape))]
      return verdict('verified', judgeVerdict(outcome('succeeded'), checks, tape.draw(5) !== 1, true))
    },
    advice: (task, attempt, round) => advice(tape, `${task}.${attempt}.${round}`),
    patched: () => tape.pick('applied', 'refused', 'suggested'),
    land: () => tape.draw(5) === 1 ? 'conflict' : 'landed',
  }
}

function grade(tape: Tape): Grade {
  return tape.draw(3) === 1 ? tape.pick<Grade>('failed', 'skipped', 'vacuous', 'unrunnable', 'timed-out') : 'passed'
}

function advice(tape: Tape, name: string): Advice {
  const files = { askFile: null, answerFile: null }
  const decisions: readonly Decision[] = [
    { kind: 'retry', reason: 'again', guidance: 'do better' },
    { kind: 'accept', reason: 'fine' },
    { kind: 'patch', reason: 'small', edits: [{ path: 'src/a.ts', content: 'x' }] },
    { kind: 'patch', reason: 'outside', edits: [{ path: '../a.ts', content: 'x' }] },
    { kind: 'split', reason: 'too big', tasks: [spec(`${name}-x`), spec(`${name}-y`, [`${name}-x`])] },
    { kind: 'split', reason: 'circle', tasks: [spec(`${name}-x`, [`${name}-y`]), spec(`${name}-y`, [`${name}-x`])] },
    { kind: 'escalate', reason: 'ask a person' },
  ]
  switch (tape.draw(6)) {
    case 1:
      return { kind: 'unreadable', reason: 'prose', ...files }
    case 2:
      return { kind: 'unavailable', reason: 'timeout' }
    default:
      return { kind: 'decided', decision: decisions[tape.draw(decisions.length)] ?? { kind: 'accept', reason: 'fine' }, ...files }
  }
}
