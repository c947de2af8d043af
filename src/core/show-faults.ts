/** Faults as the lines of a message: place, path, what is wrong, what to write instead. */
import type { Fault } from '../errors.ts'

/** Faults shown in one message; the error object carries all of them. */
const SHOWN_FAULTS = 50

export function faultCount(faults: readonly Fault[]): string {
  return faults.length === 1 ? '1 fault' : `${faults.length} faults`
}

/** Starts with a colon; an empty text for no faults. */
export function listFaults(faults: readonly Fault[]): string {
  if (faults.length === 0) return ''
  const rest = faults.length > SHOWN_FAULTS ? [`… and ${faults.length - SHOWN_FAULTS} more`] : []
  return [':', ...faults.slice(0, SHOWN_FAULTS).map(faultLine), ...rest].join('\n  ')
}

function faultLine(fault: Fault): string {
  const place = fault.line === undefined ? '' : `${fault.line}:${fault.column ?? 1} `
  const suggestion = fault.suggestion === undefined ? '' : ` Suggestion: ${fault.suggestion}`
  return `${place}${fault.path}  ${fault.message}${suggestion}`
}
