/**
 * What a prompt tells about the project (R-32, R-33, R-56, R-96): manifest, configuration, file tree, and files that were really read.
 * `minimal`: the manifest. `repo-map`: manifest and tree. `full`: all of it. Keeps to a soft cap and says where it cut.
 * Does not choose the task's words and does not list files: their list comes from the workspace's snapshot.
 */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { ResolvedConfig } from '../../core/config-types.ts'
import { fence } from '../../core/fence.ts'
import { configFiles, isSecretFile, readForPrompt, relevantFiles, type TaskText } from './context-files.ts'
import { renderRepoMap, type MappedFile } from './repo-map.ts'

export interface ContextRequest {
  /** Absolute. */
  readonly root: string
  /** Paths below the root, forward slashes; without ignored files. */
  readonly files: readonly string[]
  readonly task: TaskText
  readonly strategy: ResolvedConfig['contextStrategy']
  /** Soft cap; 0 = no context at all. */
  readonly maxTokens: number
  readonly redact: (text: string) => string
}

export interface CollectedContext {
  readonly text: string
  readonly truncated: boolean
  /** Files that were wanted and not shown. */
  readonly skipped: readonly { readonly path: string, readonly reason: string }[]
}

/** Rough, on purpose: the cap is soft. */
const BYTES_PER_TOKEN = 4
const MAP_SHARE = 0.3
const MAX_SIZED_FILES = 5000
const MAX_QUOTED_BYTES = 24 * 1024

export async function collectContext(request: ContextRequest): Promise<CollectedContext> {
  if (request.maxTokens === 0) return { text: '', truncated: false, skipped: [] }
  const files = request.files.filter(path => !isSecretFile(path))
  const manifest = await readManifest(request.root)
  const page = new Page(request.maxTokens * BYTES_PER_TOKEN, request.redact)
  if (manifest !== null) page.add('### Project', describeManifest(manifest))
  if (request.strategy === 'minimal') return page.finish(request.maxTokens)
  const mapBytes = request.strategy === 'full' ? Math.floor(page.left * MAP_SHARE) : page.left - 200
  const map = renderRepoMap(await withSizes(request.root, files), mapBytes)
  page.add(`### Files${map.complete ? '' : ' (folders in short)'}`, fence(map.text))
  if (request.strategy === 'full') {
    const wanted = [...relevantFiles(files, request.task, manifest === null ? [] : entryPoints(manifest)), ...configFiles(files)]
    for (const path of new Set(wanted)) await page.quote(request.root, path)
  }
  return page.finish(request.maxTokens)
}

/** Text under a byte cap. What no longer fits is counted, not silently lost. */
class Page {
  readonly #maxBytes: number
  readonly #redact: (text: string) => string
  readonly #parts: string[] = []
  readonly #skipped: { path: string, reason: string }[] = []
  #bytes = 0
  #leftOut = 0

  constructor(maxBytes: number, redact: (text: string) => string) {
    this.#maxBytes = maxBytes
    this.#redact = redact
  }

  get left(): number {
    return Math.max(0, this.#maxBytes - this.#bytes)
  }

  add(heading: string, body: string): void {
    this.#push(this.#redact(`${heading}\n\n${body}`))
  }

  async quote(root: string, path: string): Promise<void> {
    const read = await readForPrompt(root, path)
    if (read.kind === 'skipped') {
      this.#skipped.push({ path, reason: read.reason })
      return
    }
    const text = this.#redact(read.text)
    const room = Math.min(MAX_QUOTED_BYTES, this.left - 100)
    const shown = firstLines(text, room)
    if (shown === '' && text !== '') {
      this.#leftOut += Buffer.byteLength(text)
      this.#skipped.push({ path, reason: 'no room left' })
      return
    }
    const missing = Buffer.byteLength(text) - Buffer.byteLength(shown)
    this.#leftOut += missing
    this.#push(`### ${path}\n\n${fence(shown)}${missing > 0 ? `\n[cut: ${missing} bytes of ${path} are not shown]` : ''}`)
  }

  finish(maxTokens: number): CollectedContext {
    const notes = this.#skipped.slice(0, 20).map(({ path, reason }) => `${path} (${reason})`)
    if (notes.length > 0) this.#parts.push(`Not shown: ${notes.join(', ')}`)
    if (this.#leftOut > 0) this.#parts.push(`[context cut: ${this.#leftOut} bytes left out to stay within about ${maxTokens} tokens]`)
    return { text: this.#parts.join('\n\n'), truncated: this.#leftOut > 0, skipped: this.#skipped }
  }

  #push(part: string): void {
    const shown = firstLines(part, this.left)
    this.#leftOut += Buffer.byteLength(part) - Buffer.byteLength(shown)
    this.#bytes += Buffer.byteLength(shown) + 2
    if (shown !== '') this.#parts.push(shown)
  }
}

/** Whole lines within `maxBytes`. */
function firstLines(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const cut = bytes.subarray(0, Math.max(0, maxBytes)).lastIndexOf(10)
  return cut < 0 ? '' : bytes.subarray(0, cut + 1).toString('utf8')
}

const entrySchema = z.union([z.string(), z.record(z.string(), z.unknown())])
const manifestSchema = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  type: z.string().optional(),
  scripts: z.record(z.string(), z.string()).optional(),
  main: z.string().optional(),
  module: z.string().optional(),
  bin: entrySchema.optional(),
})

type Manifest = z.infer<typeof manifestSchema>

async function readManifest(root: string): Promise<Manifest | null> {
  const read = await readForPrompt(root, 'package.json')
  if (read.kind === 'skipped') return null
  try {
    const parsed = manifestSchema.safeParse(JSON.parse(read.text))
    return parsed.success ? parsed.data : null
  } catch {
    // A broken manifest is the judge's to report; the prompt does without.
    return null
  }
}

function describeManifest({ name, description, type, scripts = {} }: Manifest): string {
  const about = description === undefined ? '' : `Description: ${description}`
  const facts = [`Package: ${name ?? '(unnamed)'}${type === undefined ? '' : `, type ${type}`}`, about]
  const listed = Object.entries(scripts).map(([script, text]) => `${script}: ${text}`)
  return [...facts.filter(fact => fact !== ''), listed.length === 0 ? 'Scripts: none' : `Scripts:\n${fence(listed.join('\n'))}`].join('\n')
}

function entryPoints({ main, module, bin }: Manifest): readonly string[] {
  const named = [main, module, ...(typeof bin === 'string' ? [bin] : Object.values(bin ?? {}))]
  return named.filter(path => typeof path === 'string')
}

async function withSizes(root: string, files: readonly string[]): Promise<readonly MappedFile[]> {
  if (files.length > MAX_SIZED_FILES) return files.map(path => ({ path, size: null }))
  return Promise.all(files.map(async path => ({ path, size: await sizeOf(join(root, path)) })))
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).size
  } catch {
    // Gone since the snapshot: listed without a size.
    return null
  }
}
