/** Keys about the clocks and limits of one launch (SEMANTICS 4, R-18 to R-20, F17, F18). */
import { choiceKey, flagKey, type KeySpec, millisecondsKey, textKey, wholeKey, numberKey } from './key-spec.ts'
import { filledText, finiteNumber, type Rule } from '../core/value-rules.ts'

const KIB = 1_024
const MIB = 1_024 * KIB
const GIB = 1_024 * MIB

export const CLOCK_KEYS = {
  firstEventTimeoutMs: millisecondsKey({
    zero: 'refused', fallback: 120_000, meaning: 'No record at all for this long after the start: end, launch again.',
  }),
  idleTimeoutMs: millisecondsKey({
    zero: 'off', fallback: 240_000, meaning: 'No progress for this long while the model owes an answer: end, resume.',
  }),
  toolTimeoutMs: millisecondsKey({ zero: 'refused', fallback: 660_000, meaning: 'One tool call runs for this long: end, resume.' }),
  agentToolTimeoutMs: millisecondsKey({
    zero: 'refused', fallback: 1_200_000, meaning: 'A helper agent shows nothing for this long: end, resume.',
  }),
  backgroundTimeoutMs: millisecondsKey({
    zero: 'refused', fallback: 600_000, meaning: 'Background tasks go on for this long after the result: end, keep the result.',
  }),
  settleTimeoutMs: millisecondsKey({
    zero: 'refused', fallback: 30_000, meaning: 'The process does not exit for this long after the result: end, keep the result.',
  }),
  maxRuntimeMs: millisecondsKey({
    zero: 'off', fallback: 3_600_000, meaning: 'Longest time of one launch.', note: 'below idleTimeoutMs: warning',
  }),
  killGraceMs: millisecondsKey({
    zero: 'allowed', fallback: 6_000, meaning: 'Time a child gets to end by itself before it is killed; 0 = at once.',
  }),
  watchdog: choiceKey(
    ['enforce', 'dry-run'], { fallback: 'enforce', meaning: 'dry-run: the watchdog says what it would end, and ends nothing.' },
  ),
  maxStalledRestarts: wholeKey({ least: 0, fallback: 2, meaning: 'Launches after the first within one attempt, after stalls.' }),
  maxStreamBytes: wholeKey({ least: MIB, fallback: GIB, meaning: 'Most bytes of output kept of one launch; at the limit it is ended.' }),
  maxLineBytes: wholeKey({
    least: 4 * KIB,
    most: 256 * MIB,
    fallback: 8 * MIB,
    meaning: 'Longest line of output read as a whole.',
    note: 'above maxStreamBytes: error',
  }),
  onEngineDeath: choiceKey(
    ['adopt', 'end'],
    { fallback: 'adopt', meaning: 'When the engine dies: its children live on and are adopted by the next one, or end with it.' },
  ),
} satisfies Record<string, KeySpec<unknown>>

const budget: Rule = value => finiteNumber(value) === null && Number(value) >= 0 ? null : 'must be a number of at least 0'

export const RUN_KEYS = {
  maxConcurrency: wholeKey({
    least: 1,
    fallback: 2,
    meaning: 'Children at the same time. In the shared workspace the default is 1.',
    note: 'above 1 in the shared workspace: warning',
  }),
  maxRetriesPerTask: wholeKey({ least: 1, fallback: 3, meaning: 'Attempts per task in total, the first included.' }),
  maxReworks: wholeKey({ least: 0, fallback: 2, meaning: 'Further attempts after work that could not be landed.' }),
  maxSupervisionRounds: wholeKey({ least: 0, fallback: 5, meaning: 'Decisions other than accept per task before a person must decide.' }),
  maxBudgetUsd: numberKey({ rule: budget, fallback: 0, meaning: 'US dollars per run, by the prices OpenClaude reports; 0 = no limit.' }),
  maxBudgetTokens: wholeKey({ least: 0, fallback: 0, meaning: 'Tokens per run; 0 = no limit.' }),
  workspace: choiceKey(['shared'], { fallback: 'shared', meaning: 'Where attempts work. shared: in workdir itself.' }),
  stateDir: textKey({
    fallback: '', rule: filledText,
    meaning: 'Folder for journals and logs. Default: $XDG_STATE_HOME/dsh-openclaude, else ~/.local/state/dsh-openclaude.',
    note: 'inside workdir: warning',
  }),
  storePath: textKey({
    fallback: '',
    meaning: 'Deprecated: the folder of this path, relative to workdir, becomes stateDir.',
    note: 'outside workdir, or together with stateDir: error',
  }),
  persistence: flagKey({ fallback: true, meaning: 'false: the journal lives in memory; status, resume and adoption are not available.' }),
} satisfies Record<string, KeySpec<unknown>>
