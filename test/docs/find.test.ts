import { describe, expect, test } from 'bun:test'
import { findInReference } from '../../src/front/reference/find.ts'

const titles = (question: string): string[] => findInReference(question).map(({ title }) => title)

describe('the search of the reference', () => {
  test('a route is found by its words in any order, its name before its text', () => {
    expect(titles('revoke key')[0]).toBe('Revoke a key')
    expect(new Set(titles('key revoke'))).toEqual(new Set(titles('revoke key')))
  })

  test('a route is found by its path and method', () => {
    expect(findInReference('post /v1/keys')[0]).toMatchObject({ kind: 'POST /v1/keys' })
  })

  test('a member is found in the schema that has it', () => {
    expect(titles('max_affordable_output_tokens').length).toBeGreaterThan(0)
    expect(findInReference('cost_nusd').some(({ kind }) => kind === 'Schema')).toBe(true)
  })

  test('an error is found by its type', () => {
    expect(findInReference('key_paused')[0]).toMatchObject({
      title: 'key_paused',
      href: '/docs#key_paused',
      kind: 'Error 403',
    })
  })

  test('a place must hold every word', () => {
    expect(titles('revoke zebra')).toEqual([])
    expect(titles('   ')).toEqual([])
  })

  test('signs of patterns are only letters, and a very long question is cut', () => {
    expect(titles('[.*+?^(')).toEqual([])
    expect(titles(`${' '.repeat(100)}revoke`)).toEqual([])
  })

  test('an excerpt shows the word that was asked and has a bounded length', () => {
    const hits = findInReference('idempotency-key')
    expect(hits.length).toBeGreaterThan(5)
    expect(hits.every(({ excerpt }) => excerpt.length <= 170)).toBe(true)
    const shown = hits.filter(({ excerpt }) => /idempotency-key/i.test(excerpt))
    expect(shown.length).toBe(hits.length)
  })
})
