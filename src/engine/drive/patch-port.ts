/**
 * Patches of the advisor as the engine drives them: planned and written down first, carried out second, safe to repeat after a crash (SEMANTICS 6).
 * `suggest` only writes the diff. The plan on disk is what is applied: the journal's copy of the edits has its secrets replaced.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { ResolvedConfig } from '../../core/config-types.ts'
import type { FileEdit } from '../../core/evidence-types.ts'
import { applyPatch, planPatch, recoverPatch, suggestPatch } from '../../supervision/patch.ts'
import type { PatchRoot } from '../../supervision/patch-paths.ts'
import type { PlannedFile } from '../../supervision/patch-plan.ts'
import { ensurePrivateDir, writeAttemptFile } from '../state/attempt-files.ts'
import type { PatchPort, PatchRequest } from './parts.ts'

/** @param stateDir no patch may reach into it, wherever it lies. */
export function createPatchPort(mode: ResolvedConfig['patchMode'], stateDir: string): PatchPort {
  const rootOf = (request: PatchRequest): PatchRoot => ({ root: request.workspace.root, forbidden: [stateDir] })
  return {
    plan: async (request) => {
      if (request.edits.some(holdsRedaction)) return { refused: 'an edit holds a replaced secret value; it can not be applied as it was meant' }
      const planned = await planPatch(rootOf(request), request.edits)
      if (planned.kind === 'refused') return { refused: planned.reasons.join('; ') }
      const { fingerprint } = await request.snapshot()
      await ensurePrivateDir(request.attemptDir)
      await writeAttemptFile(planFile(request), JSON.stringify(planned.files))
      await suggestPatch(diffFile(request), planned.files)
      return { before: fingerprint, after: mode === 'auto' ? hashOf(planned.files) : null, file: relative(request.runDir, diffFile(request)) }
    },
    apply: async (request, plan) => {
      if (plan.after === null) return { result: 'suggested', reason: `written to ${plan.file}` }
      const files = JSON.parse(await readFile(planFile(request), 'utf8')) as readonly PlannedFile[]
      const at = rootOf(request)
      switch (await recoverPatch(at, files)) {
        case 'after':
          return { result: 'applied', reason: plan.file }
        case 'other':
          return { result: 'refused', reason: 'the files changed since the patch was planned' }
        case 'before': {
          const applied = await applyPatch(at, files)
          return applied.kind === 'applied' ? { result: 'applied', reason: plan.file } : { result: 'refused', reason: applied.reasons.join('; ') }
        }
      }
    },
  }
}

function planFile(request: PatchRequest): string {
  return join(request.attemptDir, `patch-${request.round}.json`)
}

function diffFile(request: PatchRequest): string {
  return join(request.attemptDir, `patch-${request.round}.diff`)
}

function holdsRedaction(edit: FileEdit): boolean {
  return [edit.path, edit.content ?? '', edit.find ?? ''].some(text => text.includes('<redacted:'))
}

function hashOf(files: readonly PlannedFile[]): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex')
}
