/** Tells which error of the system an unknown error is. */
export function isErrno(error: unknown, code: string): boolean {
  return errnoOf(error) === code
}

/** `ENOENT` and the like; null when the error carries no code. */
export function errnoOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}
