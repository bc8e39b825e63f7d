import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { retryHeaders } from '../../../src/kernel/retry-headers.ts'
import {
  makeLimiter,
  rateHeaders,
  refuseInvalidKey,
  tooMany,
} from '../../../src/web/http/limits.ts'
import { promise } from '../../support/promise.ts'

/** A limiter and the clock in our hand. */
function setUp(maxKeys?: number) {
  const clock = { at: 5, monotonic: () => clock.at }
  return { clock, limiter: makeLimiter(clock, maxKeys) }
}

describe('a minute', () => {
  test.each([1, 7, 300, 600])('admits %i at once and not one more', (perMinute) => {
    const { limiter } = setUp()
    for (let left = perMinute - 1; left >= 0; left--) {
      expect(limiter.take('a', perMinute)).toMatchObject({ ok: true, remaining: left })
    }
    expect(limiter.take('a', perMinute).ok).toBe(false)
  })

  test('refills evenly, and Retry-After is the truth', () => {
    const { clock, limiter } = setUp()
    for (let i = 0; i < 7; i++) limiter.take('a', 7)
    const refused = limiter.take('a', 7)
    if (refused.ok) throw new Error('should be refused')
    clock.at += refused.retryAfterMs - 1
    expect(limiter.take('a', 7).ok).toBe(false)
    clock.at += 1
    expect(limiter.take('a', 7).ok).toBe(true)
    expect(limiter.take('a', 7).ok).toBe(false)
  })

  test('a refused request costs nothing, and looking costs nothing', () => {
    const { clock, limiter } = setUp()
    for (let i = 0; i < 100; i++) limiter.take('a', 2)
    for (let i = 0; i < 100; i++) limiter.peek('a', 2)
    clock.at += 30_000
    expect(limiter.take('a', 2).ok).toBe(true)
  })

  test('Two keys do not share a minute.', () => {
    const { limiter } = setUp()
    limiter.take('a', 1)
    expect(limiter.take('a', 1).ok).toBe(false)
    expect(limiter.take('b', 1).ok).toBe(true)
  })
})

describe('a flood of made-up keys', () => {
  promise`J3 H: Counting clients takes bounded memory, which a flood does not wash out.`
  test('does not grow the memory or wash out what was counted', () => {
    const { clock, limiter } = setUp(1000)
    for (let i = 0; i < 5; i++) limiter.take('offender', 5)
    for (let i = 0; i < 1_000_000; i++) limiter.take(`flood ${i}`, 5)
    expect(limiter.size).toBeLessThanOrEqual(1000)
    expect(limiter.take('offender', 5).ok).toBe(false)
    clock.at += 60_000
    for (let i = 0; i < 3000; i++) expect(limiter.take(`later ${i % 900}`, 5)).toBeDefined()
    expect(limiter.take('offender', 5).ok).toBe(true)
    expect(limiter.size).toBeLessThanOrEqual(1000)
  })

  test('anyone who comes later is looked at as they are counted', () => {
    const { clock, limiter } = setUp(2)
    for (const key of ['a', 'b']) limiter.take(key, 3)
    for (const key of ['c', 'd', 'e', 'f']) {
      expect(limiter.take(key, 3).ok).toBe(key !== 'f')
      expect(limiter.peek('g', 3).ok).toBe(key < 'e')
    }
    expect([limiter.peek('a', 3), limiter.take('a', 3)]).toMatchObject([{ ok: true }, { ok: true }])
    clock.at += 20_000
    // The bucket of b is full again: its place is free.
    expect([limiter.peek('g', 3), limiter.take('g', 3)]).toMatchObject([
      { ok: true, remaining: 2 },
      { ok: true, remaining: 2 },
    ])
    expect(limiter.size).toBe(2)
  })
})

test('headers agree with the verdict', () => {
  const { limiter } = setUp()
  limiter.take('a', 2)
  expect(rateHeaders(2, limiter.take('a', 2))).toEqual({
    'ratelimit-policy': '"minute";q=2;w=60',
    ratelimit: '"minute";r=0;t=60',
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '60s',
  })
  expect(tooMany(1500, 'rate_limited').detail.headers).toEqual({
    'retry-after': '2',
    'retry-after-ms': '1500',
  })
})

describe('how long to wait', () => {
  test.each([
    [0, '1', '1'],
    [0.2, '1', '1'],
    [1, '1', '1'],
    [1000, '1', '1000'],
    [1000.2, '2', '1001'],
    [59_999, '60', '59999'],
  ])('%p ms is said as %s s and %s ms, and never as nothing', (ms, seconds, millis) => {
    const headers = { 'retry-after': seconds, 'retry-after-ms': millis }
    expect(retryHeaders(ms)).toEqual(headers)
  })

  test.each([
    [0, 0],
    [1000, 1],
    [1001, 2],
  ])('a reset in %p ms is one in %p s', (resetMs, seconds) => {
    const headers = rateHeaders(9, { ok: true, remaining: 4, resetMs })
    expect(headers['ratelimit']).toBe(`"minute";r=4;t=${seconds}`)
    expect(headers['x-ratelimit-reset-requests']).toBe(`${seconds}s`)
  })
})

test('a failed authentication is 401 until there were too many, of one client', () => {
  const { limiter } = setUp()
  const typeOf = (client: string) => {
    try {
      return refuseInvalidKey(limiter, client, 2)
    } catch (error) {
      return error instanceof Refusal ? [error.type, error.detail.headers] : error
    }
  }
  const wait = { 'retry-after': '30', 'retry-after-ms': '30000' }
  expect(['a', 'a', 'a', 'b'].map(typeOf)).toEqual([
    ['invalid_key', undefined],
    ['invalid_key', undefined],
    ['rate_limited', wait],
    ['invalid_key', undefined],
  ])
})
