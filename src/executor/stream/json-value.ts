/** Tolerant readers for decoded JSON of foreign programs: a field of the wrong type counts as absent. */

export type JsonObject = Readonly<Record<string, unknown>>

const NOTHING: JsonObject = {}

/** The value as an object; an empty one when it is none. Arrays are no objects. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : NOTHING
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A non-empty string, else null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A finite number that is not negative, else 0. */
export function amountOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}
