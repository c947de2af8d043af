/**
 * Asks a model for advice on a judged attempt and reads its answer. Returns data; applies nothing and knows nothing of legality.
 * Questions and answers are kept beside the attempt, private and without secret values.
 */
import { join, relative } from 'node:path'
import { decodeDecision, type TaskDecoder } from '../core/decode-decision.ts'
import type { Advice } from '../core/evidence-types.ts'
import { askAgain, buildQuestion } from './advisor-question.ts'
import type { AdviceRequest, Advisor, AdvisorModel } from './ports.ts'
import { writePrivateFile } from './private-file.ts'

export interface AdvisorDeps {
  readonly decodeTasks: TaskDecoder
  readonly redact: (text: string) => string
}

/** Two answers are read at most; the second is asked for only when the first is no decision (DESIGN 5.9). */
export function createAdvisor(model: AdvisorModel, deps: AdvisorDeps): Advisor {
  return {
    advise: async request => {
      try {
        return await adviseOnce(model, deps, request)
      } catch (error) {
        return { kind: 'unavailable', reason: deps.redact(`${model.name}: ${error instanceof Error ? error.message : String(error)}`) }
      }
    },
  }
}

async function adviseOnce(model: AdvisorModel, deps: AdvisorDeps, request: AdviceRequest): Promise<Advice> {
  // Secrets leave neither to disk nor to the model.
  const question = deps.redact(buildQuestion(request))
  const askPath = join(request.adviceDir, `${request.round}.ask.json`)
  const answerPath = join(request.adviceDir, `${request.round}.answer.json`)
  const files = { askFile: relative(request.runDir, askPath), answerFile: relative(request.runDir, answerPath) }
  const asked: string[] = []
  const answers: { readonly text: string, readonly unreadable: string | null }[] = []
  for (let prompt = question; ; prompt = askAgain(question, answers.at(-1)?.unreadable ?? '')) {
    asked.push(prompt)
    await writePrivateFile(askPath, json({ model: model.name, questions: asked }))
    request.signal.throwIfAborted()
    const text = await model.ask(prompt, { signal: request.signal })
    const decoded = decodeDecision(text, deps.decodeTasks)
    answers.push({ text: deps.redact(text), unreadable: decoded.kind === 'decision' ? null : deps.redact(decoded.reason) })
    await writePrivateFile(answerPath, json({ model: model.name, answers }))
    if (decoded.kind === 'decision') return { kind: 'decided', decision: decoded.decision, ...files }
    if (answers.length === 2) return { kind: 'unreadable', reason: answers.map(answer => answer.unreadable).join('; then: '), ...files }
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
