import { describe, expect, test } from 'bun:test'
import {
  boundCap,
  boundExpiry,
  boundModels,
  boundName,
  boundNetworks,
  boundScopes,
  boundTags,
} from '../../../src/access/keys/bounds.ts'
import { dayMs } from '../../../src/access/keys/key.ts'
import { noLimits, withLimits } from '../../../src/access/keys/key-limits.ts'
import { maxNusd } from '../../../src/kernel/money.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { plainKey } from '../../support/plain-key.ts'

const now = Date.UTC(2026, 5, 1)

const parent = (state: Partial<KeyRow>): KeyRow => ({
  id: 'key',
  accountId: '0x',
  parentId: null,
  lineage: ['key'],
  name: 'test',
  fingerprint: '',
  capLimit: 100n,
  capWindow: 'lifetime',
  ...plainKey,
  scopes: ['runs:write', 'keys:mint'],
  createdAt: now - 1,
  expiresAt: now + 10 * dayMs,
  ...state,
})

/** The field that is refused; undefined when it is taken. */
function refused(ask: () => unknown): string | undefined {
  try {
    ask()
    return undefined
  } catch (error) {
    if (error instanceof Refusal && error.type === 'invalid_request') return error.detail.param
    throw error
  }
}

const many = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at))

type Row = [what: string, ask: () => unknown, refused: string | undefined]

describe('the bounds of a key are taken, and one beyond them is refused', () => {
  const cap = 'cap.limit_nusd'
  const small = parent({})
  test.each<Row>([
    ['a name of 1 character', () => boundName('a'), undefined],
    ['a name of 64', () => boundName('a'.repeat(64)), undefined],
    ['a name of none', () => boundName(''), 'name'],
    ['a name of 65', () => boundName('a'.repeat(65)), 'name'],
    ['a name with a tab', () => boundName('a\tb'), 'name'],
    ['a cap of 1', () => boundCap(1n, undefined), undefined],
    ['a cap of 0', () => boundCap(0n, undefined), cap],
    ['the largest cap', () => boundCap(maxNusd, undefined), undefined],
    ['a larger cap', () => boundCap(maxNusd + 1n, undefined), cap],
    ["the parent's cap", () => boundCap(100n, small), undefined],
    ["more than the parent's cap", () => boundCap(101n, small), cap],
    ['a parent with room', () => boundCap(2n, small), undefined],
  ])('%s', (_, ask, field) => expect(refused(ask)).toBe(field))

  const limits = (name: string) => `limits.${name}`
  test.each<Row>([
    ['1 request a minute', () => withLimits(noLimits, { rpm: 1 }), undefined],
    ['10,000,000 requests', () => withLimits(noLimits, { rpm: 10_000_000 }), undefined],
    ['10,000,001 requests', () => withLimits(noLimits, { rpm: 10_000_001 }), limits('rpm')],
    ['no requests', () => withLimits(noLimits, { rpm: 0 }), limits('rpm')],
    ['half a request', () => withLimits(noLimits, { rpm: 1.5 }), limits('rpm')],
    ['requests without an own limit', () => withLimits(noLimits, { rpm: null }), undefined],
    ['1 run at once', () => withLimits(noLimits, { concurrency: 1 }), undefined],
    ['1,000,000 runs', () => withLimits(noLimits, { concurrency: 1_000_000 }), undefined],
    [
      '1,000,001 runs',
      () => withLimits(noLimits, { concurrency: 1_000_001 }),
      limits('concurrency'),
    ],
    ['no runs', () => withLimits(noLimits, { concurrency: 0 }), limits('concurrency')],
    ['a run of 1', () => withLimits(noLimits, { maxCostPerRun: 1n }), undefined],
    [
      'a run of 0',
      () => withLimits(noLimits, { maxCostPerRun: 0n }),
      limits('max_cost_per_run_nusd'),
    ],
    ['the dearest run', () => withLimits(noLimits, { maxCostPerRun: maxNusd }), undefined],
    [
      'a dearer run',
      () => withLimits(noLimits, { maxCostPerRun: maxNusd + 1n }),
      limits('max_cost_per_run_nusd'),
    ],
    ['a run without a limit', () => withLimits(noLimits, { maxCostPerRun: null }), undefined],
  ])('%s', (_, ask, field) => expect(refused(ask)).toBe(field))

  const tags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, 'v']))
  test.each<Row>([
    ['8 tags', () => boundTags(tags(8)), undefined],
    ['9 tags', () => boundTags(tags(9)), 'tags'],
    ['a tag name of 1', () => boundTags({ a: '' }), undefined],
    ['a tag name of 64', () => boundTags({ ['a'.repeat(64)]: 'v' }), undefined],
    ['a tag name of 65', () => boundTags({ ['a'.repeat(65)]: 'v' }), 'tags'],
    ['a tag without a name', () => boundTags({ '': 'v' }), 'tags'],
    ['a tag value of 256', () => boundTags({ a: 'v'.repeat(256) }), undefined],
    ['a tag value of 257', () => boundTags({ a: 'v'.repeat(257) }), 'tags'],
    ['a tab in the name of a tag', () => boundTags({ 'a\tb': 'v' }), 'tags'],
    ['a tab in the value of a tag', () => boundTags({ a: 'v\t' }), 'tags'],
  ])('%s', (_, ask, field) => expect(refused(ask)).toBe(field))

  const acme = parent({ models: ['acme/*', 'other/one'] })
  test.each<Row>([
    ['64 models', () => boundModels(many(64, String), undefined), undefined],
    ['65 models', () => boundModels(many(65, String), undefined), 'models'],
    [
      'the same model 65 times',
      () =>
        boundModels(
          many(65, () => 'one'),
          undefined,
        ),
      undefined,
    ],
    ['a model of 200 characters', () => boundModels(['a'.repeat(200)], undefined), undefined],
    ['a model of 201', () => boundModels(['a'.repeat(201)], undefined), 'models'],
    ['a model with a space', () => boundModels(['a b'], undefined), 'models'],
    ['a model of none', () => boundModels([''], undefined), 'models'],
    ["models of the parent's", () => boundModels(['acme/a', 'other/one'], acme), undefined],
    ["one model that is not the parent's", () => boundModels(['acme/a', 'b'], acme), 'models'],
  ])('%s', (_, ask, field) => expect(refused(ask)).toBe(field))

  const block = (at: number) => `10.0.${at}.0/24`
  const ten = parent({ ipCidrs: ['10.0.0.0/8', '192.0.2.1'] })
  test.each<Row>([
    ['64 networks', () => boundNetworks(many(64, block), undefined), undefined],
    ['65 networks', () => boundNetworks(many(65, block), undefined), 'ip_cidrs'],
    ['an invalid network', () => boundNetworks(['10.0.0.0/8', 'ten'], undefined), 'ip_cidrs'],
    ["networks within the parent's", () => boundNetworks([block(1), '192.0.2.1'], ten), undefined],
    ['one that is not', () => boundNetworks([block(1), '192.0.2.2'], ten), 'ip_cidrs'],
    ['a wider one', () => boundNetworks(['10.0.0.0/7'], ten), 'ip_cidrs'],
  ])('%s', (_, ask, field) => expect(refused(ask)).toBe(field))

  test.each<Row>([
    ['a scope', () => boundScopes(['runs:read'], undefined), undefined],
    [
      'an unknown scope among known ones',
      () => boundScopes(['runs:read', 'x'], undefined),
      'scopes',
    ],
    ["scopes of the parent's", () => boundScopes(['keys:mint', 'runs:write'], small), undefined],
    ['one that it lacks', () => boundScopes(['runs:write', 'runs:read'], small), 'scopes'],
  ])('%s', (_, ask, field) => expect(refused(ask)).toBe(field))

  test.each<Row>([
    ['an expiry of now', () => boundExpiry(now, undefined, now), 'expires_at'],
    ['an invalid time', () => boundExpiry(Number.NaN, undefined, now), 'expires_at'],
    ['one millisecond more', () => boundExpiry(now + 1, undefined, now), undefined],
    ['366 days', () => boundExpiry(now + 366 * dayMs, undefined, now), undefined],
    ['a moment more', () => boundExpiry(now + 366 * dayMs + 1, undefined, now), 'expires_at'],
    ["the parent's", () => boundExpiry(now + 10 * dayMs, small, now), undefined],
    ["later than the parent's", () => boundExpiry(now + 10 * dayMs + 1, small, now), 'expires_at'],
  ])('%s', (_, ask, field) => expect(refused(ask)).toBe(field))
})

describe('what is left out', () => {
  test('is 90 days, or as long as the parent if that ends before', () => {
    expect(boundExpiry(undefined, undefined, now)).toBe(now + 90 * dayMs)
    expect(boundExpiry(undefined, parent({}), now)).toBe(now + 10 * dayMs)
    expect(boundExpiry(undefined, parent({ expiresAt: now + 200 * dayMs }), now)).toBe(
      now + 90 * dayMs,
    )
  })

  test('is the default scopes that the parent has, in their order', () => {
    expect(boundScopes(undefined, undefined)).toEqual([
      'runs:write',
      'runs:read',
      'usage:read',
      'receipts:read',
      'keys:read',
    ])
    expect(boundScopes(undefined, parent({}))).toEqual(['runs:write'])
    expect(boundScopes(['keys:mint', 'runs:write'], undefined)).toEqual(['runs:write', 'keys:mint'])
  })

  test("is the parent's models and networks; an empty list is as none", () => {
    const above = parent({ models: ['acme/*'], ipCidrs: ['10.0.0.0/8'] })
    expect(boundModels(undefined, above)).toEqual(['acme/*'])
    expect(boundModels([], above)).toEqual(['acme/*'])
    expect(boundNetworks(undefined, above)).toEqual(['10.0.0.0/8'])
    expect(boundNetworks([], above)).toEqual(['10.0.0.0/8'])
    expect([boundModels(undefined, undefined), boundNetworks([], undefined)]).toEqual([[], []])
  })

  test('is a bound limit as it was', () => {
    expect(withLimits(noLimits, { rpm: 2, concurrency: null, maxCostPerRun: 3n })).toEqual({
      ...noLimits,
      rpm: 2,
      maxCostPerRun: 3n,
    })
  })
})
