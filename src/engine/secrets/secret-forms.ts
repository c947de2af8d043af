/** The shapes a secret takes in text: as it is, escaped for JSON or URLs, in base64; and tokens known by their look alone. Pure. */

/** Shorter values are words; replacing them would make text unreadable and hide nothing. */
export const MIN_SECRET_LENGTH = 6

const MIN_BASE64_CORE = 8
/** Lines of a longer secret, such as a PEM block, that may be printed one by one. */
const MIN_LINE = 16

/** Every literal under which `value` may appear, itself included, without duplicates. */
export function formsOf(value: string): readonly string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).filter(line => line.length >= MIN_LINE && !line.startsWith('-----')) : []
  const forms = [value, ...lines].flatMap(text => [text, ...jsonForms(text), ...urlForms(text)])
  return [...new Set([...forms, ...base64Forms(value)])].filter(form => form.length >= MIN_SECRET_LENGTH)
}

/** Once for a JSON record, twice for a record quoted inside another. */
function jsonForms(text: string): readonly string[] {
  const once = JSON.stringify(text).slice(1, -1)
  return [once, JSON.stringify(once).slice(1, -1)]
}

function urlForms(text: string): readonly string[] {
  const encoded = encodeURIComponent(text.toWellFormed())
  return [encoded, encoded.replaceAll(/%[0-9A-F]{2}/g, byte => byte.toLowerCase()), encoded.replaceAll('%20', '+')]
}

/**
 * The part of the base64 text that does not depend on what stands before or after the value, for each of the three alignments:
 * `Basic` credentials and encoded files contain the value in the middle.
 */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'utf8')
  const forms: string[] = []
  for (const before of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(before), bytes])
    const text = padded.toString('base64').replace(/=+$/, '')
    const core = text.slice(Math.ceil(before * 8 / 6), Math.floor(padded.length * 8 / 6))
    if (core.length >= MIN_BASE64_CORE) forms.push(core, core.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return forms
}

/** Tokens that are secrets wherever they appear. Sources of one alternation; no capturing groups, no flags. */
export const TOKEN_SHAPES: readonly string[] = [
  String.raw`(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}`,
  String.raw`(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{20,}`,
  String.raw`(?<![A-Za-z0-9_])github_pat_[A-Za-z0-9_]{20,}`,
  String.raw`(?<![A-Za-z0-9_])glpat-[A-Za-z0-9_-]{16,}`,
  String.raw`(?<![A-Za-z0-9_-])tvly-[A-Za-z0-9_-]{10,}`,
  String.raw`(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{30,}`,
  String.raw`(?<![A-Za-z0-9_])xox[abeprs]-[A-Za-z0-9-]{10,}`,
  String.raw`(?<![A-Za-z0-9_])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])`,
  String.raw`(?<![A-Za-z0-9_])AIza[0-9A-Za-z_-]{35}`,
  String.raw`(?<![A-Za-z0-9_])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,
  String.raw`(?<=[Bb]earer )[A-Za-z0-9._~+/-]{8,}=*`,
  String.raw`(?<=[Bb]asic )(?=[A-Za-z0-9+/]*[0-9A-Z])[A-Za-z0-9+/]{16,}=*`,
  String.raw`(?<=:\/\/[^\/\s:@"']{1,64}:)[^@\s\/"'<>]{3,}(?=@)`,
  String.raw`-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ ){0,3}PRIVATE KEY-----|$)`,
]
