import { describe, expect, test } from 'bun:test'
import { isQuoteFile, parseQuoteFile } from '../../src/verify/quote.ts'
import type { Problem } from '../../src/verify/receipt.ts'
import { set, statusOf } from './judge.ts'
import { about, fileFor, quote, receiptFor } from './quote-samples.ts'
import { fileOf } from './samples.ts'

describe('the file of a quote', () => {
  const view = {
    ...fileFor(quote),
    ...{ id: quote.id, object: 'quote', model: quote.model, max_nusd: 23_255, uses: 1 },
    ...{ uses_left: 0, expires_at: new Date(1_790_000_600_000).toISOString() },
  }
  const problemsOf = (value: unknown) => {
    const problems: Problem[] = []
    const file = parseQuoteFile(value, problems)
    expect(file === undefined).toBe(problems.length > 0)
    return problems.map(({ path, message }) => `${path}: ${message}`)
  }

  test('is the answer of the API too, whose members repeat what is signed', () => {
    expect(isQuoteFile(view)).toBe(true)
    expect(problemsOf(view)).toEqual([])
    expect(about(receiptFor(quote), view).status).toBe('pass')
  })

  test.each([
    ['id', 'quote_1', 'id: not as in the quote'],
    ['object', 'receipt', 'object: not as in the quote'],
    ['model', 'a/b', 'model: not as in the quote'],
    ['max_nusd', 1, 'max_nusd: not as in the quote'],
    ['uses', 2, 'uses: not as in the quote'],
    ['expires_at', '2026-01-01T00:00:00.000Z', 'expires_at: not as in the quote'],
    ['extra', 1, 'extra: unknown member'],
    ['type', 'counterfoil.receipt', 'type: not "counterfoil.quote"'],
    ['version', '2', 'version: not "1"'],
    ['digest', 7, 'digest: not text'],
    ['signature', undefined, 'signature: missing'],
    ['quote.max_nusd', 5, 'quote.max_nusd: not text'],
    ['quote.more', '5', 'quote.more: unknown member'],
    ['quote.rates', 'none', 'quote.rates: not a list'],
    ['quote.rates', Array(129).fill({}), 'quote.rates: more than 128 lines'],
  ])('with %p as %p cannot be read', (path, value, problem) => {
    const changed = structuredClone(view)
    set(changed, path, value)
    expect(problemsOf(changed)).toContain(problem)
    expect(about(receiptFor(quote), changed).reason).toStartWith('The quote could not be read: ')
  })

  test('whose quote is text is a problem, also with members beside it', () => {
    expect(problemsOf({ ...view, quote: 'text' })).toEqual(['quote: not an object'])
  })

  test('that expires beyond all dates has no date that could stand beside it', () => {
    const never = { ...quote, expires_at: '18446744073709551615' }
    const file = { ...fileFor(never), expires_at: '2026-01-01T00:00:00.000Z' }
    expect(problemsOf(file)).toEqual(['expires_at: not as in the quote'])
    expect(problemsOf(fileFor(never))).toEqual([])
  })

  test('is nothing else: neither null, text, a number, a list nor half of one', () => {
    for (const value of [null, 'text', 7, [], { type: 'counterfoil.quote' }, { quote: {} }]) {
      expect(isQuoteFile(value)).toBe(false)
      expect(problemsOf(value).length).toBeGreaterThan(0)
      expect(statusOf(about(fileOf(), value).verdict, 'quote')).toBe('fail')
    }
  })
})
