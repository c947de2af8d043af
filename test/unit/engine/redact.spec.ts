import { expect, test } from 'vitest'
import { createRedactingStream } from '../../../src/engine/secrets/redacting-stream.ts'
import { createRedactor, looksSecret } from '../../../src/engine/secrets/redact.ts'

const SECRET = 'hunter2/"Zoë" & co'

test.each([
  'TAVILY_TOKEN', 'ANTHROPIC_API_KEY', 'apiKey', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD', 'npm_config__auth', 'GOOGLE_APPLICATION_CREDENTIALS', 'SSH_KEY', 'SENTRY_DSN',
])('%s names a secret', name => expect(looksSecret(name)).toBe(true))

test.each(['PATH', 'PWD', 'HOME', 'GIT_AUTHOR_NAME', 'KEYBOARD', 'MONKEY', 'PATTERN', 'COMPASS_DIR'])('%s names no secret', name => expect(looksSecret(name)).toBe(false))

test('T22: a value is replaced by its name in every form it may take', () => {
  const { redact } = createRedactor({ env: { MY_TOKEN: SECRET } })
  const forms = {
    plain: SECRET,
    json: JSON.stringify(SECRET),
    jsonInJson: JSON.stringify(JSON.stringify({ token: SECRET })),
    url: `https://host/?token=${encodeURIComponent(SECRET)}`,
    urlLowerCase: encodeURIComponent(SECRET).replaceAll(/%../g, byte => byte.toLowerCase()),
    form: encodeURIComponent(SECRET).replaceAll('%20', '+'),
    base64: Buffer.from(SECRET).toString('base64'),
    basic1: Buffer.from(`u:${SECRET}`).toString('base64'),
    basic2: Buffer.from(`us:${SECRET}!`).toString('base64'),
    base64url: Buffer.from(SECRET).toString('base64url'),
  }
  expect(Object.entries(forms).filter(([, text]) => !redact(text).includes('<redacted:MY_TOKEN>')).map(([form]) => form)).toEqual([])
  expect(redact(`before ${SECRET} after`)).toBe('before <redacted:MY_TOKEN> after')
})

test('of two secrets where one begins with the other, the longer one is replaced whole', () => {
  const { redact } = createRedactor({ env: { A_TOKEN: 'abcdef', B_TOKEN: 'abcdefghij' } })
  expect(redact('abcdefghij abcdef')).toBe('<redacted:B_TOKEN> <redacted:A_TOKEN>')
})

test('values of ordinary variables, short values and plain words stay; all variables of the configuration count', () => {
  const { redact, names } = createRedactor({
    env: { HOME: '/home/someone', SHORT_KEY: '12345', NO_AUTH: 'disabled', PIN_KEY: '12345678' },
    configEnv: { REGION: 'eu-central-1', CI: 'true' },
  })
  expect(redact('/home/someone 12345 disabled 12345678 eu-central-1 true')).toBe('/home/someone 12345 disabled <redacted:PIN_KEY> <redacted:REGION> true')
  expect(names).toEqual(['PIN_KEY', 'REGION'])
})

test('every line of a key that spans several lines is replaced, also when it is printed alone', () => {
  const pem = `-----BEGIN PRIVATE KEY-----\n${'A1b2C3d4E5f6G7h8'.repeat(4)}\n${'Z9y8X7w6V5u4T3s2'.repeat(4)}\n-----END PRIVATE KEY-----`
  const { redact } = createRedactor({ env: { DEPLOY_KEY: pem } })
  expect(redact(`key: ${pem}.`)).toBe('key: <redacted:DEPLOY_KEY>.')
  expect(redact(`> ${'Z9y8X7w6V5u4T3s2'.repeat(4)}`)).toBe('> <redacted:DEPLOY_KEY>')
  expect(createRedactor({ env: {} }).redact(`x ${pem} y`)).toBe('x <redacted:token> y')
})

test('well-known tokens are replaced without being in the environment, and look-alikes are not', () => {
  const { redact } = createRedactor({ env: {} })
  const tokens = [
    `sk-ant-api03-${'aB1'.repeat(8)}`, `sk-proj${'0123456789'.repeat(2)}`, `ghp_${'a1'.repeat(18)}`, `github_pat_${'a1'.repeat(15)}`, 'tvly-dev-0123456789', `npm_${'Ab1'.repeat(12)}`,
    'xoxb-1234567890-abcdef', 'AKIAIOSFODNN7EXAMPLE', `AIza${'a'.repeat(35)}`, 'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl', 'glpat-0123456789abcdef0123',
  ]
  expect(tokens.map(redact)).toEqual(tokens.map(() => '<redacted:token>'))
  expect(redact('Authorization: Bearer abc.DEF-123456')).toBe('Authorization: Bearer <redacted:token>')
  expect(redact('postgres://user:pa55word@db/x')).toBe('postgres://user:<redacted:token>@db/x')
  const harmless = 'task-0123456789abcdefghij risk-1 sk-learn-estimators-are-fine the bearer of news http://localhost:8080/a@b npm_config_registry basic understanding'
  expect(redact(harmless)).toBe(harmless)
})

test('a value is walked without changing keys, exact fields or parts that hold no secret', () => {
  const { redactDeep } = createRedactor({ env: { A_TOKEN: 'secret-value' } })
  const clean = { list: ['x', 1, null, true] }
  const value = { 'secret-value': 1, 'id': 'secret-value', 'reason': 'secret-value', 'text': ['a secret-value', { deep: 'secret-value' }], clean }
  const result = redactDeep(value, { always: new Set(['id']), words: new Set(['reason']) })
  expect(result).toEqual({
    'secret-value': 1, 'id': 'secret-value', 'reason': 'secret-value', 'text': ['a <redacted:A_TOKEN>', { deep: '<redacted:A_TOKEN>' }], clean,
  })
  expect(result.clean).toBe(clean)
})

test('a stream lets whole lines go, and none of a secret that is split over chunks', () => {
  const stream = createRedactingStream(createRedactor({ env: { A_TOKEN: 'secret-value' } }))
  expect(stream.push('one\ntwo secret-')).toBe('one\n')
  expect(stream.push(Buffer.from('value three\nfo'))).toBe('two <redacted:A_TOKEN> three\n')
  expect(stream.end()).toBe('fo')
})

test('a line without end leaves in parts and is bounded, and no part ends inside a secret', () => {
  const stream = createRedactingStream(createRedactor({ env: { A_TOKEN: 'secret-value' } }))
  const text = 'x'.repeat(60).concat('secret-value').repeat(5000)
  let out = ''
  let longest = 0
  for (let at = 0; at < text.length; at += 997) {
    out += stream.push(text.slice(at, at + 997))
    longest = Math.max(longest, Math.min(text.length, at + 997) - out.replaceAll('<redacted:A_TOKEN>', 'secret-value').length)
  }
  out += stream.end()
  expect(out).toBe('x'.repeat(60).concat('<redacted:A_TOKEN>').repeat(5000))
  expect(longest).toBeLessThan(100_000)
})
