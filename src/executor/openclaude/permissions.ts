/** The one permission table of engine and provider. Empty = nobody is there to answer: everything is allowed. */

/** Flags for a permission mode. Modes were validated when the configuration was read. */
export function permissionFlags(mode: string): readonly string[] {
  return mode === '' ? ['--yolo'] : ['--permission-mode', mode]
}

/** Modes that OpenClaude refuses for uid 0 outside a sandbox. */
export function bypassesPermissions(mode: string): boolean {
  return mode === '' || mode === 'bypassPermissions' || mode === 'fullAccess'
}
