/** `doctor [--live] [--salvage [run]]`. Exit code 3 when something would keep a run from starting. */
import { examine } from '../../engine/doctor/doctor.ts'
import { salvageRun } from '../../engine/runs/salvage-run.ts'
import { configOf, type CommonOptions } from '../options.ts'
import type { Output } from '../output.ts'

const MARKS = { ok: '✓', warning: '!', error: '✗' } as const

export async function doctorCommand(
  _args: readonly string[],
  options: CommonOptions & { readonly live?: boolean, readonly salvage?: string | boolean },
  output: Output,
): Promise<number> {
  if (options.salvage !== undefined) return salvage(typeof options.salvage === 'string' ? options.salvage : '', options, output)
  const findings = await examine(configOf(options), { live: options.live === true })
  for (const { subject, level, message, fix } of findings) {
    output.say(`${MARKS[level]} ${subject}: ${message}`)
    if (fix !== undefined && level !== 'ok') output.say(`    ${fix}`)
  }
  output.document({ findings })
  return findings.some(finding => finding.level === 'error') ? 3 : 0
}

async function salvage(run: string, options: CommonOptions, output: Output): Promise<number> {
  const saved = await salvageRun(configOf(options), run)
  output.say(`run ${saved.run}: kept ${saved.kept} lines of its journal, left out ${saved.dropped.length}; the original is ${saved.original}`)
  for (const line of saved.dropped) output.say(`  byte ${line.offset}: ${line.why}`)
  if (saved.missing.length > 0) output.say(`  no line was left for the numbers ${saved.missing.slice(0, 20).join(', ')}`)
  output.document(saved)
  return 0
}
