/** What print mode does with a tool call: nobody is asked, so it runs or is refused at once (measured per --permission-mode). */
import type { Flags } from './command-line.ts'
import type { JsonRecord } from './records.ts'

export type Permission =
  | 'allow'
  /** Refused and listed in permission_denials. */
  | 'deny'
  /** Refused, not listed: plan mode. */
  | 'deny-silently'
  | 'no-such-tool'

type Rules = Pick<Flags, 'permissionMode' | 'tools' | 'allowedTools' | 'disallowedTools'>

const READ_ONLY_TOOLS = ['Read', 'Glob', 'Grep', 'Agent', 'Task']
const EDIT_TOOLS = ['Write', 'Edit']
const READ_ONLY_SHELL = /^(echo|ls|cat|pwd|head|tail|wc|grep|true)\b[^;&|<>`$]*$/u

export function permissionFor(rules: Rules, tool: string, input: JsonRecord): Permission {
  const command = typeof input['command'] === 'string' ? input['command'] : ''
  if (rules.tools !== undefined && !splitNames(rules.tools).includes(tool)) return 'no-such-tool'
  if (splitNames(rules.disallowedTools).includes(tool)) return 'no-such-tool'
  if (rules.permissionMode === 'bypassPermissions' || rules.permissionMode === 'fullAccess') return 'allow'
  if (READ_ONLY_TOOLS.includes(tool) || (tool === 'Bash' && READ_ONLY_SHELL.test(command))) return 'allow'
  if (splitNames(rules.allowedTools).some(pattern => covers(pattern, tool, command))) return 'allow'
  if (rules.permissionMode === 'plan') return 'deny-silently'
  if (EDIT_TOOLS.includes(tool) && (rules.permissionMode === 'acceptEdits' || rules.permissionMode === 'auto')) return 'allow'
  return 'deny'
}

/** `Tool`, `Tool(exact)` or `Tool(prefix:*)`. */
function covers(pattern: string, tool: string, command: string): boolean {
  const found = /^(\w+)(?:\((.*)\))?$/su.exec(pattern)
  if (found === null || found[1] !== tool) return false
  const inside = found[2]
  if (inside === undefined) return true
  return inside.endsWith(':*') ? command.startsWith(inside.slice(0, -2)) : command === inside
}

/** Names may come as one comma-separated argument; commas inside parentheses do not count. */
function splitNames(names: readonly string[]): readonly string[] {
  return names.flatMap(name => name.split(/,(?![^(]*\))/u)).map(name => name.trim()).filter(name => name !== '')
}
