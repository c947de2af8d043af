/** Text from children made safe for a person's terminal or page: no escape sequences, no control characters, bounded length. */
import { stripVTControlCharacters } from 'node:util'

/** C0 and C1 control characters but for tab and newline, and the bidirectional overrides that can reorder what a reader sees. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g

export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll(UNPRINTABLE, '\u{FFFD}')
}

/** One line of at most `width` characters; line breaks become spaces. */
export function printableLine(text: string, width: number): string {
  const line = printable(text).replaceAll(/\s+/g, ' ').trim()
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}
