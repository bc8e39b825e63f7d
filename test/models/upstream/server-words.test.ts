import { describe, expect, test } from 'bun:test'
import { cleanWords, errorIn, failureOf } from '../../../src/models/upstream/refused.ts'
import { retryAfterIn } from '../../../src/models/upstream/retry-after.ts'
import { stopwatch } from '../../fuzz/run.ts'

const secrets = [
  'upstream-key-0123456789',
  'https://models.internal.example/v1',
  'models.internal.example',
]

describe("a model server's words", () => {
  test('Paths of members and plain numbers stay as they are.', () => {
    for (const message of [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'messages.0.content.1.cache_control: A maximum of 4 blocks may be provided. Found 5.',
      'input[3].call_id: string should have at most 64 characters (got 71).',
      'top_p: 1.5 is above 1; ratio 3:4, at 10:30, see section 2.4.1.',
    ]) {
      expect(cleanWords(message, secrets)).toBe(message)
    }
  })

  test('Secrets, addresses, host names and accounts are removed.', () => {
    const cleaned = cleanWords(
      'Key upstream-key-0123456789 at https://models.internal.example/v1/chat via 10.2.3.4:8000, ' +
        '[fd00:1:2:3::1]:443, localhost:11434, gpu-7.svc:8000, node3.prod.local and api.vendor.com ' +
        'for org-AbCdEfGh1234 with sk-proj-abcdefghijklmnop1234',
      secrets,
    )
    expect(cleaned).not.toMatch(
      /0123456789|internal|10\.2|fd00|11434|gpu-7|local|vendor|AbCd|abcdefghijkl/,
    )
    expect(cleaned).toStartWith('Key [redacted] at [')
  })

  test('A message is one printable line of 500 characters at most, in linear time.', () => {
    expect(cleanWords('a\r\n\u0000b\u202ec\u2028d', secrets)).toBe('a b c d')
    const spent = stopwatch()
    for (const piece of ['a.', 'x-', '1.', 'ab:', 'http://a', '[', 'org-', 'é']) {
      expect(cleanWords(piece.repeat(1_000_000), secrets).length).toBeLessThanOrEqual(500)
    }
    expect(spent()).toBeLessThan(500)
  })

  test('Errors are read in the forms of OpenAI, FastAPI and OpenRouter.', () => {
    expect(errorIn({ error: { message: 'No.', code: 'x', param: 'stop', type: 't' } })).toEqual({
      message: 'No.',
      names: ['x', 't'],
      code: 'x',
      param: 'stop',
    })
    const detail = [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }]
    expect(errorIn({ detail }).message).toBe('stream_options: Extra inputs are not permitted')
    const raw = JSON.stringify({ error: { message: 'seed is not taken' } })
    const routed = { error: { message: 'Provider returned error', metadata: { raw } } }
    expect(errorIn(routed).message).toBe('Provider returned error seed is not taken')
  })

  test('Only a refusal of the request itself carries them.', () => {
    const error = errorIn({ error: { message: 'Too many images.', code: 'images' } })
    const rules = { secrets, isRelayed: true }
    const { reason, words } = failureOf(error, { status: 422 }, rules)
    expect({ reason, words }).toEqual({
      reason: 'rejected',
      words: { message: 'Too many images.', code: 'images', param: undefined, isRelayed: true },
    })
    for (const status of [401, 403, 429, 500, 529]) {
      expect(failureOf(error, { status }, rules).words).toBeUndefined()
    }
    expect(failureOf(error, { status: 403 }, rules).reason).toBe('denied')
    expect(failureOf(errorIn({ error: { type: 'overloaded_error' } }), {}, rules).reason).toBe(
      'busy',
    )
  })
})

test('The wait that a server asks for is read as seconds, milliseconds or a date, up to a minute.', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const read = (fields: Record<string, string>) => retryAfterIn((name) => fields[name], now)
  expect(read({ 'retry-after': ' 30' })).toBe(30_000)
  expect(read({ 'retry-after': '3600' })).toBe(60_000)
  expect(read({ 'retry-after': '7', 'retry-after-ms': '1250.5' })).toBe(1251)
  expect(read({ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' })).toBe(9000)
  expect(read({ 'retry-after': 'soon' })).toBeUndefined()
  expect(read({})).toBeUndefined()
})
