import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { readIdempotencyKey } from '../../../src/web/http/idempotency-key.ts'
import { queryOf, readChoice, readInteger, readPage } from '../../../src/web/http/query.ts'

const pageOf = (query: string) => readPage(queryOf(new Request(`http://localhost/x${query}`)))

describe('limit and after', () => {
  test.each([
    ['', { limit: 20, after: undefined }],
    ['?limit=1', { limit: 1, after: undefined }],
    ['?limit=100&after=key_1', { limit: 100, after: 'key_1' }],
    ['?other=1', { limit: 20, after: undefined }],
  ])('The query %j gives its limit and cursor.', (query, page) => {
    expect(pageOf(query)).toEqual(page)
  })
  test.each([
    '0',
    '101',
    '-1',
    '+1',
    '1.0',
    '1e1',
    '01',
    '0x10',
    '',
    '%20 5',
    '99999999999999999999',
  ])('The parameter limit=%s is refused.', (limit) => {
    expect(() => pageOf(`?limit=${limit}`)).toThrow(Refusal)
  })
  test.each(['?limit=1&limit=2', '?after=', '?after=a&after=a'])('%s is refused', (query) => {
    expect(() => pageOf(query)).toThrow(Refusal)
  })
})

test('integers keep to their bounds and choices to their list', () => {
  const query = new URLSearchParams('n=7&window=7d')
  expect(readInteger(query, 'n', { min: 0, max: 7 })).toBe(7)
  expect(() => readInteger(query, 'n', { min: 0, max: 6 })).toThrow(Refusal)
  expect(readInteger(query, 'm', { min: 0, max: 6 })).toBeUndefined()
  expect(readChoice(query, 'window', ['24h', '7d'])).toBe('7d')
  expect(() => readChoice(query, 'window', ['24h'])).toThrow(Refusal)
})

describe('Idempotency-Key', () => {
  const read = (key: string) => readIdempotencyKey(new Headers({ 'idempotency-key': key }))
  test('1 to 128 printable ASCII characters are taken as they are', () => {
    for (const key of ['a', 'x'.repeat(128), 'a b~!']) expect(read(key)).toBe(key)
    expect(readIdempotencyKey(new Headers())).toBeUndefined()
  })
  test.each(['', 'x'.repeat(129), 'é', 'a\tb'])('%j is refused', (key) => {
    expect(() => read(key)).toThrow(Refusal)
  })
})
