/**
 * Identity of one proof (SEMANTICS 10): the tree, the check with the script behind it, the names in the environment, what is installed,
 * and how the judge runs. Equal keys are never run twice. Values of the environment are no part of it.
 */
import { createHash } from 'node:crypto'
import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check } from '../core/evidence-types.ts'

export interface EvidenceSubject {
  /** Fingerprint of the tree before the first check ran. */
  readonly tree: string
  readonly check: Pick<Check, 'role' | 'argv' | 'scriptText' | 'expectTests'>
  readonly environmentNames: readonly string[]
  readonly setup: string
  readonly mode: 'in-place'
}

/** 32 hexadecimal digits. */
export function evidenceKey(subject: EvidenceSubject): string {
  const { tree, check, setup, mode } = subject
  const parts = [tree, check.role, check.argv, check.scriptText, check.expectTests, subject.environmentNames.toSorted(), setup, mode]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** What package managers write when they install; small files whose content changes with every installed package. */
const INSTALL_RECORDS = ['.package-lock.json', '.modules.yaml', '.yarn-state.yml', '.yarn-integrity']

/** Fingerprint of the machine's side: the running Node and what is installed in the work directory. */
export async function setupHash(workdir: string): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.version}`)
  for (const name of INSTALL_RECORDS) hash.update(`\0${await contentOf(join(workdir, 'node_modules', name))}`)
  hash.update(`\0${await isPresent(join(workdir, 'node_modules'))}`)
  return hash.digest('hex').slice(0, 32)
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    // Another package manager's record: absent is a state like any other.
    return ''
  }
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch {
    // Nothing is installed.
    return false
  }
}
