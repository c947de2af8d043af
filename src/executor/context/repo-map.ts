/** The file tree of a project as text, in as much detail as fits. Pure. */

export interface MappedFile {
  readonly path: string
  /** Bytes; null = not asked. */
  readonly size: number | null
}

const DEPTHS = [Number.MAX_SAFE_INTEGER, 6, 4, 3, 2, 1]

/** The deepest level of detail within `maxBytes`: folders below it are one line with their number of files. */
export function renderRepoMap(files: readonly MappedFile[], maxBytes: number): { readonly text: string, readonly complete: boolean } {
  const sorted = files.map(file => ({ ...file, parent: parentOf(file.path) }))
    .toSorted((a, b) => a.parent === b.parent ? (a.path < b.path ? -1 : 1) : (a.parent < b.parent ? -1 : 1))
  for (const depth of DEPTHS) {
    const text = renderToDepth(sorted, depth)
    if (Buffer.byteLength(text) <= maxBytes) return { text, complete: depth === DEPTHS[0] }
  }
  return { text: `${files.length} files`, complete: false }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Files of one folder stand together, those of the top first. */
function renderToDepth(files: readonly (MappedFile & { readonly parent: string })[], depth: number): string {
  const lines: string[] = []
  const collapsed = new Map<string, number>()
  let folder = ''
  for (const { path, size, parent } of files) {
    const parts = path.split('/')
    if (parts.length > depth) {
      const top = `${parts.slice(0, depth).join('/')}/`
      if (!collapsed.has(top)) lines.push(top)
      collapsed.set(top, (collapsed.get(top) ?? 0) + 1)
      continue
    }
    if (parent !== folder) lines.push(`${parent}/`)
    folder = parent
    lines.push(`${parent === '' ? '' : '  '}${parts.at(-1) ?? ''}${size === null ? '' : `  ${readableSize(size)}`}`)
  }
  return lines.map(line => collapsed.has(line) ? `${line}  ${collapsed.get(line)} files` : line).join('\n')
}

function readableSize(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
