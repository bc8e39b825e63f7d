import { describe, expect, test } from 'bun:test'
import { assertHandle, isHandle, skeletonOf } from '../../../src/proof/passports/handle.ts'
import { toProfile } from '../../../src/proof/passports/profile.ts'
import { spendBand, toTrackRecord } from '../../../src/proof/passports/record.ts'
import { promise } from '../../support/promise.ts'

const usd = 1_000_000_000n

promise`C10`
describe('a handle', () => {
  test.each(['abc', 'a-b-c', 'harbor-lab', 'agent-007', `a${'b'.repeat(29)}`])(
    '%p is one',
    (handle) => {
      expect(isHandle(handle)).toBe(true)
      expect(() => assertHandle(handle)).not.toThrow()
    },
  )

  test.each([
    '',
    'ab',
    `a${'b'.repeat(30)}`,
    '1abc',
    '-abc',
    'abc-',
    'a--b',
    'Abc',
    'ABC',
    'a_b',
    'a.b',
    'a/b',
    '..',
    'a b',
    'abc\n',
    'abc\0',
    'аbc',
    'ﬀab',
    'abc\u200b',
    '%61bc',
  ])('The text %p is not a handle.', (handle) => {
    expect(isHandle(handle)).toBe(false)
    expect(() => assertHandle(handle)).toThrow('A handle has 3 to 30 characters')
  })

  test.each([
    'admin',
    'support',
    'brand',
    'counterfoil',
    'self',
    'api',
    'ad-min',
    'adm1n',
    'adrnin',
    'supp0rt',
    'c0unterfoil',
    'counter-foil',
    'counterfoi1',
    'openal',
    'dashb0ard',
    's-e-l-f',
  ])('%p is reserved, or looks like one that is', (handle) => {
    expect(() => assertHandle(handle)).toThrow('is reserved')
  })

  test.each([
    ['harbor', 'harb0r'],
    ['harbor', 'har-bor'],
    ['lab-one', '1ab-one'],
    ['lab-one', 'iab-one'],
    ['morning', 'rnorning'],
    ['wave', 'vvave'],
    ['burn-er', 'bum-er'],
    ['zero-two', 'zer0-tw0'],
    ['dan', 'clan'],
    ['dan', 'c1an'],
    ['mode', 'nnocle'],
    ['summer', 'sunnnner'],
    ['arm', 'arnn'],
    ['rmn', 'nnnn'],
    ['rnn', 'mn'],
    ['wvv', 'vvw'],
    ['gate', '9ate'],
  ])('The handle %p looks like the handle %p.', (one, other) => {
    expect(skeletonOf(one)).toBe(skeletonOf(other))
  })

  test.each([
    ['harbor', 'harbour'],
    ['agent-3', 'agent-4'],
    ['agent-6', 'agent-8'],
    ['quest', 'guest'],
    ['nun', 'mun'],
    ['ox-lab', 'fox-lab'],
  ])('%p does not look like %p', (one, other) => {
    expect(skeletonOf(one)).not.toBe(skeletonOf(other))
  })
})

describe('a profile', () => {
  const base = { displayName: 'Harbor Lab', kind: 'agent' as const }

  test('is trimmed and put into one form', () => {
    const links = ['https://EXAMPLE.com/a', 'https://example.com/a', 'https://bücher.example/']
    expect(
      toProfile({ displayName: '  Harbor   Lab ', kind: 'service', bio: ' a\nb ', links }),
    ).toEqual({
      displayName: 'Harbor Lab',
      kind: 'service',
      bio: 'a\nb',
      links: ['https://example.com/a', 'https://xn--bcher-kva.example/'],
      ownerShown: false,
    })
  })

  test.each([
    ['', 'display_name'],
    ['   ', 'display_name'],
    ['x'.repeat(65), 'display_name'],
    ['a\u0000b', 'display_name'],
    ['a\u202eb', 'display_name'],
    ['a\u2066b', 'display_name'],
    ['a\u200bb', 'display_name'],
    ['a\nb', 'display_name'],
    ['---', 'display_name'],
    ['\u200d', 'display_name'],
  ])('A profile refuses the name %p.', (displayName) => {
    expect(() => toProfile({ ...base, displayName })).toThrow(/name/)
  })

  test.each(['日本語', 'Ünï', '🤖', `<script>alert(1)</script>`, 'x'.repeat(64)])(
    'takes the name %p as text',
    (displayName) => {
      expect(toProfile({ ...base, displayName }).displayName).toBe(displayName)
    },
  )

  test.each(['x'.repeat(281), 'a\u202eb', 'a\u0007b'])('refuses the bio %p', (bio) => {
    expect(() => toProfile({ ...base, bio })).toThrow(/bio/)
  })

  test.each([
    'http://example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.example',
    'https://user:pw@example.com',
    'https://localhost/',
    'https://',
    `https://example.com/${'x'.repeat(200)}`,
    'java\tscript:alert(1)',
    'https://exa\u202emple.com',
  ])('A profile refuses the link %p.', (link) => {
    expect(() => toProfile({ ...base, links: [link] })).toThrow('Each link')
  })

  test('has five links at most', () => {
    const links = Array.from({ length: 6 }, (_, i) => `https://example.com/${i}`)
    expect(() => toProfile({ ...base, links })).toThrow('at most 5')
  })
})

describe('a record', () => {
  test.each([
    [0n, 'none'],
    [1n, 'under_1_usd'],
    [usd - 1n, 'under_1_usd'],
    [usd, '1_to_10_usd'],
    [10n * usd, '10_to_100_usd'],
    [100n * usd, '100_to_1000_usd'],
    [1000n * usd, 'over_1000_usd'],
  ] as const)('A spend of %p nano-USD is in the band %p.', (spent, band) => {
    expect(spendBand(spent)).toBe(band)
  })

  test('A record without runs shows none.', () => {
    const row = {
      runs: 0,
      succeeded: 0,
      spent: 0n,
      activeDays: 0,
      firstAt: null,
      lastAt: null,
      publicReceipts: 0,
    }
    expect(toTrackRecord(row, [], 7)).toEqual({
      as_of_size: 7,
      runs: 0,
      succeeded: 0,
      success_rate_bps: null,
      models: [],
      active_days: 0,
      first_at: null,
      last_at: null,
      spend_band: 'none',
      public_receipts: 0,
    })
  })

  test('rounds its rate down and shows days, not moments', () => {
    const row = {
      runs: 3,
      succeeded: 2,
      spent: 5n * usd,
      activeDays: 2,
      firstAt: Date.UTC(2026, 10, 20, 23, 59, 59, 999),
      lastAt: Date.UTC(2026, 10, 21, 0, 0, 0, 1),
      publicReceipts: 1,
    }
    expect(toTrackRecord(row, ['a/b'], 9)).toMatchObject({
      success_rate_bps: 6666,
      first_at: '2026-11-20T00:00:00.000Z',
      last_at: '2026-11-21T00:00:00.000Z',
      spend_band: '1_to_10_usd',
    })
  })
})
