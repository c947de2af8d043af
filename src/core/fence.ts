/** Quoting text in Markdown so that nothing inside can end the quotation. Pure. */

/** The fence is longer than any run of backticks inside. The content's trailing white space is dropped. */
export function fence(content: string, language = ''): string {
  const longest = (content.match(/`+/gu) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const mark = '`'.repeat(longest + 1)
  return `${mark}${language}\n${content.trimEnd()}\n${mark}`
}
