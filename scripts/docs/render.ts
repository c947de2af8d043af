/** Renders the generated parts of the documentation from the tables of the source. Writes no file. */
import { defaultConfig } from '../../src/config.ts'
import { CONFIG_KEYS, CONFIG_SCHEMA } from '../../src/config/keys.ts'
import { ERROR_CODES, type RetryHint } from '../../src/errors.ts'

export const CONFIG_START = '<!-- config:start -->'
const CONFIG_END = '<!-- config:end -->'

/** A Markdown table of every key: type, default, meaning, and what a bad value gets. */
function renderConfigTable(): string {
  const defaults = defaultConfig('cli')
  return table(['Key', 'Type', 'Default', 'Meaning', 'Bad value'], CONFIG_KEYS.map(key => {
    const { type, meaning, bad } = CONFIG_SCHEMA[key]
    return [`\`${key}\``, type, `\`${JSON.stringify(defaults[key])}\``, meaning, bad]
  }))
}

export function renderConfigPage(): string {
  return [
    '# Configuration',
    '',
    'Generated from the schema in `src/config/`. A value comes from, in this order: flag or command argument, `--config` file, user file',
    '(`$XDG_CONFIG_HOME/dsh-openclaude/config.yaml`, only for the command) or the row of the DSH profile (only in DSH), default. One place wins',
    'per key, lists replace each other. No file found in the repository is ever read. `dsh-openclaude config explain` shows each value with its origin.',
    '',
    CONFIG_START,
    renderConfigTable(),
    CONFIG_END,
    '',
  ].join('\n')
}

const RETRY: Readonly<Record<RetryHint, string>> = { 'never': 'no', 'same-input': 'yes, as it is', 'after-change': 'after a change' }

export function renderErrorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { meaning, exit, retry }]) => [`\`${code}\``, meaning, String(exit), RETRY[retry]])
  return [
    '# Errors',
    '',
    'Generated from the table in `src/errors.ts`. Branch on the code, never on the text. Exit code 2 is a fault of the input, 3 one of the environment.',
    '',
    table(['Code', 'Meaning', 'Exit code', 'Worth a retry'], rows),
    '',
  ].join('\n')
}

/** The text with what stands between the two markers replaced; unchanged when it has no markers. */
export function replaceConfigBlock(text: string): string {
  const start = text.indexOf(CONFIG_START)
  const end = text.indexOf(CONFIG_END)
  if (start === -1 || end < start) return text
  return `${text.slice(0, start + CONFIG_START.length)}\n${renderConfigTable()}\n${text.slice(end)}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}
