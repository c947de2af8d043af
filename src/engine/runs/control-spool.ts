/**
 * The only way into a live engine (SEMANTICS 11): callers drop commands as files, the engine takes them in order. A command is deleted
 * only after the engine has dealt with it, so a crash repeats it; the engine journals its id and passes the ids it has, so it acts once.
 */
import { constants, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { open, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { monotonicFactory } from 'ulid'
import { z } from 'zod'
import type { ControlCommand } from '../../core/run-types.ts'
import { writeFileDurable } from '../state/durable-file.ts'

export interface ControlMessage {
  /** ULID: ids of one sender sort in the order of sending. */
  readonly id: string
  /** The run it is meant for. */
  readonly run: string
  /** Who asks: a user name, or a host program. */
  readonly by: string
  /** Wall clock, ISO 8601. */
  readonly at: string
  readonly command: ControlCommand
}

export interface ControlWatchOptions {
  /** Ids that are in the journal already: their files are deleted without a second call. */
  readonly seen: ReadonlySet<string>
  readonly onWarning: (message: string) => void
  /** The handler rejected: the command stays in the spool and the watch is over. */
  readonly onError: (error: unknown) => void
  readonly pollMs?: number
}

export interface ControlWatch {
  /** Resolves when no handler runs any more. Idempotent. */
  readonly close: () => Promise<void>
}

const MESSAGE_FILE = /^[0-9A-HJKMNP-TV-Z]{26}\.json$/
const MAX_MESSAGE_BYTES = 1 << 20
const POLL_MS = 200

const text = z.string().max(100_000)
const commandSchema: z.ZodType<ControlCommand> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('abort') }),
  z.strictObject({ kind: z.literal('stop') }),
  z.strictObject({ kind: z.literal('retry'), task: text, guidance: text }),
  z.strictObject({ kind: z.literal('answer'), task: text, answer: z.enum(['accept', 'retry', 'drop']), note: text }),
])
const messageSchema: z.ZodType<ControlMessage> = z.strictObject({ id: z.string(), run: text, by: text, at: text, command: commandSchema })

const nextId = monotonicFactory()

/**
 * Resolves with the id when the command is durably in the spool; it may then be acted on at any time.
 * @param controlDir of the repository, existing.
 */
export async function sendControl(controlDir: string, request: Omit<ControlMessage, 'id' | 'at'>, now: Date = new Date()): Promise<string> {
  const id = nextId(now.getTime())
  const { run, by, command } = request
  const message: ControlMessage = { id, run, by, at: now.toISOString(), command }
  await writeFileDurable(join(controlDir, `${id}.json`), `${JSON.stringify(message)}\n`)
  return id
}

/**
 * Calls `handler` for every command, one after the other, in the order of their ids. The folder is polled; file notification only shortens the wait.
 * @param handler resolves when the command is journalled and its effects are asked for.
 */
export function watchControl(controlDir: string, handler: (message: ControlMessage) => Promise<void>, options: ControlWatchOptions): ControlWatch {
  const { onWarning, onError, pollMs = POLL_MS } = options
  const done = new Set(options.seen)
  let closed = false
  let changed = false
  let wake = (): void => {}
  const hint = (): void => {
    changed = true
    wake()
  }
  const watcher = watchFolder(controlDir, hint)

  const take = async (name: string): Promise<void> => {
    const path = join(controlDir, name)
    const read = await readMessage(path, name)
    if (read.kind === 'gone') return
    if (read.kind === 'bad') {
      await rename(path, `${path}.rejected`)
      onWarning(`Control file ${name} was set aside as ${name}.rejected: ${read.why}.`)
      return
    }
    if (!done.has(read.message.id)) {
      await handler(read.message)
      done.add(read.message.id)
    }
    await unlink(path)
  }
  const loop = async (): Promise<void> => {
    while (!closed) {
      changed = false
      const names = (await readdir(controlDir)).filter(name => MESSAGE_FILE.test(name)).sort()
      for (const name of names) {
        if (closed) return
        await take(name)
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, changed || closed ? 0 : pollMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
  const ended = loop().catch(onError).finally(() => watcher?.close())
  return {
    close: () => {
      closed = true
      wake()
      return ended
    },
  }
}

/** Null where notification is not to be had (no inotify left, odd file systems): polling serves alone. */
function watchFolder(folder: string, hint: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, hint)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}

type ReadMessage =
  | { readonly kind: 'message', readonly message: ControlMessage }
  | { readonly kind: 'bad', readonly why: string }
  | { readonly kind: 'gone' }

async function readMessage(path: string, name: string): Promise<ReadMessage> {
  let content: string
  try {
    // A named pipe must not block the engine, nor a link lead it elsewhere.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) return { kind: 'bad', why: 'it is no plain file' }
      if (stats.uid !== process.geteuid?.()) return { kind: 'bad', why: `it belongs to user ${stats.uid}` }
      if (stats.size > MAX_MESSAGE_BYTES) return { kind: 'bad', why: `it is larger than ${MAX_MESSAGE_BYTES} bytes` }
      content = await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return { kind: 'gone' }
    if (code === 'ELOOP') return { kind: 'bad', why: 'it is a symbolic link' }
    throw error
  }
  return decodeMessage(content, name)
}

function decodeMessage(content: string, name: string): ReadMessage {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    return { kind: 'bad', why: 'it is not JSON' }
  }
  const decoded = messageSchema.safeParse(value)
  if (!decoded.success) return { kind: 'bad', why: decoded.error.issues.map(issue => `${issue.path.join('.') || 'message'}: ${issue.message}`).join('; ') }
  if (`${decoded.data.id}.json` !== name) return { kind: 'bad', why: 'its id is not its file name' }
  return { kind: 'message', message: decoded.data }
}
