/**
 * From an advisor's text to a decision, or the reason why there is none (R-60, R-101, T21). Pure and strict: unknown keys, wrong types and
 * empty texts are no decision. Whether a decision is legal is `policy.ts`; what makes a task a task is the decoder that is passed in.
 */
import { z } from 'zod'
import { assertNever } from '../errors.ts'
import type { Decision, FileEdit } from './evidence-types.ts'
import type { TaskSpec } from './graph-types.ts'
import { findJsonObjects, MAX_SCANNED_CHARS } from './json-objects.ts'

type DecodedTasks =
  | { readonly ok: true, readonly tasks: readonly TaskSpec[] }
  /** Each fault names its place. */
  | { readonly ok: false, readonly faults: readonly string[] }

/** Decodes the tasks of a split as a graph file written by a model is decoded. */
export type TaskDecoder = (tasks: readonly unknown[]) => DecodedTasks

export type DecodedDecision =
  | { readonly kind: 'decision', readonly decision: Decision }
  | { readonly kind: 'unreadable', readonly reason: string }

const MAX_EDITS = 200
const text = z.string().refine(value => value.trim() !== '', 'must not be empty')

const editSchema = z.strictObject({
  path: text,
  content: z.string().nullable(),
  find: z.string().min(1).optional(),
}).refine(edit => edit.content !== null || edit.find === undefined, 'an edit with find needs a content to put in its place')

const decisionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('accept'), reason: text }),
  z.strictObject({ kind: z.literal('retry'), reason: text, guidance: text, freshTree: z.boolean().optional() }),
  z.strictObject({ kind: z.literal('patch'), reason: text, edits: z.array(editSchema).min(1).max(MAX_EDITS) }),
  z.strictObject({ kind: z.literal('split'), reason: text, tasks: z.array(z.unknown()).min(1) }),
  z.strictObject({ kind: z.literal('escalate'), reason: text }),
])

type WrittenDecision = z.infer<typeof decisionSchema>

/** Of several objects that are decisions the last one counts; of several that are not, the last one's fault is the reason. */
export function decodeDecision(answer: string, decodeTasks: TaskDecoder): DecodedDecision {
  if (answer.trim() === '') return unreadable('the answer is empty')
  if (answer.length > MAX_SCANNED_CHARS) return unreadable(`the answer is longer than ${MAX_SCANNED_CHARS} characters`)
  const candidates = findJsonObjects(answer).filter(object => 'kind' in object)
  const decoded = candidates.map(candidate => decodeCandidate(candidate, decodeTasks))
  const last = decoded.findLast(each => each.kind === 'decision') ?? decoded.at(-1)
  return last ?? unreadable('the answer holds no complete JSON object with a "kind"')
}

function decodeCandidate(candidate: unknown, decodeTasks: TaskDecoder): DecodedDecision {
  const parsed = decisionSchema.safeParse(candidate)
  if (parsed.success) return toDecision(parsed.data, decodeTasks)
  return unreadable(parsed.error.issues.map(issue => `${jsonPath(issue.path)}: ${issue.message}`).join('; '))
}

function jsonPath(parts: readonly PropertyKey[]): string {
  return `$${parts.map(part => typeof part === 'number' ? `[${part}]` : `.${String(part)}`).join('')}`
}

function toDecision(written: WrittenDecision, decodeTasks: TaskDecoder): DecodedDecision {
  switch (written.kind) {
    case 'accept':
    case 'escalate':
      return { kind: 'decision', decision: written }
    case 'retry': {
      const { freshTree, ...rest } = written
      return { kind: 'decision', decision: freshTree === undefined ? rest : { ...rest, freshTree } }
    }
    case 'patch':
      return { kind: 'decision', decision: { ...written, edits: written.edits.map(toEdit) } }
    case 'split': {
      const { kind, reason } = written
      const decoded = decodeTasks(written.tasks)
      if (!decoded.ok) return unreadable(`the tasks of the split are no tasks: ${decoded.faults.join('; ')}`)
      return { kind: 'decision', decision: { kind, reason, tasks: decoded.tasks } }
    }
    default:
      return assertNever(written)
  }
}

function toEdit({ find, ...edit }: z.infer<typeof editSchema>): FileEdit {
  return find === undefined ? edit : { ...edit, find }
}

function unreadable(reason: string): DecodedDecision {
  return { kind: 'unreadable', reason }
}
