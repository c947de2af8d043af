/** The part of the package that is used here; it ships no types. */
declare module 'fs-native-extensions' {
  /** Kernel lock on an open file description: freed when it is closed, at the latest by the death of the process. False when another one holds it. */
  export function tryLock(fd: number, options?: { readonly shared?: boolean }): boolean
  export function unlock(fd: number): void
}
