/**
 * From an advisor's edits and the current contents to the new contents, or every reason why not. Pure: contents come in as data.
 * All edits apply or none. Where files may lie on the disk is `patch.ts`.
 */
import type { FileEdit } from '../core/evidence-types.ts'

/** Plain data, kept beside the attempt so that a later engine can finish or undo it. */
export interface PlannedFile {
  /** Relative to the work tree, forward slashes. */
  readonly path: string
  /** null = the file does not exist. */
  readonly before: string | null
  readonly after: string | null
}

export type PatchPlan =
  | { readonly kind: 'planned', readonly files: readonly PlannedFile[] }
  | { readonly kind: 'refused', readonly reasons: readonly string[] }

/** Null = the path may be edited; else one clause that follows the path. */
export function pathFault(path: string): string | null {
  if (path === '') return 'is empty'
  if (path.includes('\0') || path.includes('\\')) return 'holds a NUL or a backslash'
  if (path.startsWith('/') || path.startsWith('~') || /^[A-Za-z]:/u.test(path)) return 'is not relative to the work tree'
  const parts = path.split('/')
  if (parts.includes('..')) return 'leaves the work tree'
  if (parts.some(part => part === '' || part === '.')) return 'is not in its shortest form'
  if (parts.some(part => part.toLowerCase() === '.git')) return 'is inside .git'
  return null
}

/** Edits of one file apply in order. `current` must know every path of the edits; null = absent. */
export function planEdits(edits: readonly FileEdit[], current: ReadonlyMap<string, string | null>): PatchPlan {
  const contents = new Map<string, string | null>()
  const reasons: string[] = []
  for (const edit of edits) {
    const fault = pathFault(edit.path)
    const now = contents.has(edit.path) ? contents.get(edit.path) : current.get(edit.path)
    const applied = fault === null ? applyEdit(edit, now ?? null) : { refused: fault }
    if ('refused' in applied) reasons.push(`${JSON.stringify(edit.path)} ${applied.refused}`)
    else contents.set(edit.path, applied.content)
  }
  const written = [...contents.keys()].filter(path => contents.get(path) !== null)
  const torn = written.filter(path => written.some(other => other.startsWith(`${path}/`)))
  reasons.push(...torn.map(path => `${JSON.stringify(path)} would be a file and a folder`))
  if (reasons.length > 0) return { kind: 'refused', reasons }
  const files = [...contents]
    .map(([path, after]) => ({ path, before: current.get(path) ?? null, after }))
    .filter(file => file.before !== file.after)
    .toSorted((a, b) => a.path < b.path ? -1 : 1)
  return files.length === 0 ? { kind: 'refused', reasons: ['the patch changes nothing'] } : { kind: 'planned', files }
}

function applyEdit(edit: FileEdit, now: string | null): { readonly content: string | null } | { readonly refused: string } {
  if (edit.content === null) return now === null ? { refused: 'is to be deleted, but does not exist' } : { content: null }
  if (edit.find === undefined) return { content: edit.content }
  if (now === null) return { refused: 'is to be edited, but does not exist' }
  if (edit.find === '') return { refused: 'has an empty text to find' }
  const first = now.indexOf(edit.find)
  if (first < 0) return { refused: 'does not hold the text to replace' }
  if (now.includes(edit.find, first + 1)) return { refused: 'holds the text to replace more than once' }
  return { content: `${now.slice(0, first)}${edit.content}${now.slice(first + edit.find.length)}` }
}

const CONTEXT_LINES = 3

/** Unified diff that `git apply` takes; one hunk per file. */
export function renderPatch(files: readonly PlannedFile[]): string {
  return files.map(({ path, before, after }) => {
    const mode = before === null ? 'new file mode 100644\n' : after === null ? 'deleted file mode 100644\n' : ''
    const head = `diff --git a/${path} b/${path}\n${mode}`
    const hunk = renderHunk(linesOf(before ?? ''), linesOf(after ?? ''))
    const from = before === null ? '/dev/null' : `a/${path}`
    const to = after === null ? '/dev/null' : `b/${path}`
    return hunk === '' ? head : `${head}--- ${from}\n+++ ${to}\n${hunk}`
  }).join('')
}

/** Each line with its end, so that a missing last newline is seen. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? []
}

function renderHunk(before: readonly string[], after: readonly string[]): string {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  if (start === before.length && start === after.length) return ''
  const from = Math.max(0, start - CONTEXT_LINES)
  const tail = Math.max(0, end - CONTEXT_LINES)
  const removed = before.slice(start, before.length - end)
  const added = after.slice(start, after.length - end)
  const line = (mark: string) => (text: string): string => `${mark}${text}${text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`
  const body = [
    ...before.slice(from, start).map(line(' ')),
    ...removed.map(line('-')),
    ...added.map(line('+')),
    ...before.slice(before.length - end, before.length - tail).map(line(' ')),
  ]
  return `@@ ${span('-', from, before.length - tail - from)} ${span('+', from, after.length - tail - from)} @@\n${body.join('')}`
}

function span(mark: string, from: number, count: number): string {
  return `${mark}${count === 0 ? from : from + 1},${count}`
}
