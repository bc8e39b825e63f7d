import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { toHex } from '../../src/kernel/hex.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { noQuote } from '../../src/verify/checks.ts'
import { anyAccount, type Quote, quoteCheck, quoteDigest } from '../../src/verify/quote.ts'
import type { Receipt } from '../../src/verify/receipt.ts'
import { promise } from '../support/promise.ts'
import { judge, trust } from './judge.ts'
import { about, fileFor, quote, rate, receiptFor } from './quote-samples.ts'
import { fileOf, type SampleFacts, testSigner } from './samples.ts'

const line = (meter: string, quantity: number, price: number) =>
  ({ meter, quantity, pricePusd: BigInt(price) }) as SampleFacts['charge']['lines'][number]

/** Lines with the amount that follows from them, without a discount. */
const linesOf = (...lines: SampleFacts['charge']['lines']) => {
  const sum = lines.reduce((all, one) => all + BigInt(one.quantity) * one.pricePusd, 0n)
  return { lines, discountBps: 0, amount: (sum + 999n) / 1000n }
}
const open: Quote = { ...quote, discount_bps: '0', max_nusd: '9000000000000000' }

describe('a quote beside a receipt', () => {
  test('holds when the receipt names it and no line is dearer', () => {
    const { verdict, status, reason } = about(receiptFor(quote), fileFor(quote))
    expect([status, reason]).toEqual(['pass', `No line is dearer than quote ${quote.id} says.`])
    expect(verdict.valid).toBe(true)
    expect(verdict.proves).toContain('that it is charged at the quoted rates or less')
  })

  test('is not missed: without it a receipt that names one says so', () => {
    const named = judge(receiptFor(quote))
    const check = named.checks.find(({ name }) => name === 'quote')
    expect([named.valid, check?.status]).toEqual([true, 'skip'])
    expect(check?.reason).toBe('The receipt names a quote, which was not given to compare with.')
    const { receipt } = fileOf()
    expect(noQuote(receipt, undefined).reason).toBe('No quote was given.')
    const hidden = { ...receipt, charge: { $hash: `0x${'00'.repeat(32)}` as const } }
    expect(noQuote(hidden, undefined).reason).toBe('No quote was given.')
  })

  test('is judged by every tier, every step and every line', () => {
    const tier = [line('input', 75, 400_000), line('output', 21, 700_000)]
    const cases: [string, SampleFacts['charge']['lines'], string | undefined][] = [
      ['cheaper', [line('input', 75, 1), line('output', 21, 2)], undefined],
      ['another tier', tier, undefined],
      ['its class', [...tier, line('reasoning', 5, 800_000)], undefined],
      ['two tiers mixed', [line('input', 75, 400_000), line('cache_read', 9, 20_000)], undefined],
      [
        'no tier has both',
        [line('input', 75, 400_001)],
        'Expected at most 400000 pUSD a unit of input; found 400001.',
      ],
      [
        'dearer output',
        [line('output', 1, 700_001)],
        'Expected at most 700000 pUSD a unit of output; found 700001.',
      ],
      ['a step above', [line('input', 1000, 300_000), line('output', 1, 900_000)], undefined],
      [
        'a step not reached',
        [line('input', 999, 300_000), line('output', 1, 900_000)],
        'Expected at most 700000 pUSD a unit of output; found 900000.',
      ],
      [
        'classes count as input',
        [line('input', 1, 300_000), line('cache_read', 999, 300_000), line('output', 1, 900_000)],
        undefined,
      ],
      ['a class without a rate', [line('cache_write', 3, 150_000)], undefined],
      [
        'the same, too dear',
        [line('cache_write', 3, 400_001)],
        'Expected at most 400000 pUSD a unit of cache_write; found 400001.',
      ],
      ['an unknown meter', [line('stories', 1, 1)], 'The quote has no rate for stories.'],
      ['an unused one', [line('stories', 0, 1), line('input', 1, 150_000)], undefined],
      ['a request', [line('request', 1, 1)], 'The quote has no rate for request.'],
      [
        'output of no class',
        [line('audio_output', 1, 1)],
        'The quote has no rate for audio_output.',
      ],
      ['nothing used', [line('input', 0, 9_000_000)], undefined],
    ]
    for (const [name, lines, breach] of cases) {
      const { status, reason } = about(receiptFor(open, linesOf(...lines)), fileFor(open))
      const found = [name, status, breach === undefined ? undefined : reason]
      expect(found).toEqual([name, breach === undefined ? 'pass' : 'fail', breach])
    }
    const empty = { ...open, rates: [] }
    const none = about(receiptFor(empty, linesOf(line('input', 1, 0))), fileFor(empty))
    expect([none.status, none.reason]).toEqual(['fail', 'The quote has no rates.'])
  })

  test('lets a contradicted count have the dearest rate of its side alone', () => {
    const one = {
      ...open,
      rates: [rate('input', 2), rate('cache_read', 5), rate('output', 7), rate('reasoning', 9)],
    }
    const dear = linesOf(line('input', 10, 5), line('output', 10, 9))
    const reported = about(receiptFor(one, dear), fileFor(one))
    expect(reported.reason).toBe('Expected at most 2 pUSD a unit of input; found 5.')
    const counted = { usageSource: 'counted' as const }
    expect(about(receiptFor(one, dear, counted), fileFor(one)).status).toBe('pass')
    for (const lines of [linesOf(line('input', 10, 6)), linesOf(line('output', 10, 10))]) {
      expect(about(receiptFor(one, lines, counted), fileFor(one)).status).toBe('fail')
    }
  })

  promise`D57 H: A receipt that did not keep its quote is found, and so is a quote that was
    changed.`
  test('forged as kept is found: another digest, issuer, account, model, discount or amount', () => {
    const breaks: [Partial<Quote>, string][] = [
      [
        { issuer: 'https://other.example' },
        'The quote is of another issuer: https://other.example.',
      ],
      [
        { account: `0x${'11'.repeat(20)}` },
        `The quote is for another account: 0x${'11'.repeat(20)}.`,
      ],
      [{ model: 'acme/large' }, 'The quote is for another model: acme/large.'],
      [{ discount_bps: '251' }, 'Expected a discount of 251 bps; found 250.'],
      [{ max_nusd: '23254' }, 'Expected at most 23254 nUSD; found 23255.'],
    ]
    for (const [change, reason] of breaks) {
      const of = { ...quote, ...change }
      const { verdict, ...found } = about(receiptFor(of), fileFor(of))
      expect(found).toEqual({ status: 'fail', reason })
      expect(verdict.valid).toBe(false)
    }
    const elsewhere = about(fileOf(), fileFor(quote))
    const name = `quote:${toHex(quoteDigest(quote))}`
    expect(elsewhere.reason).toBe(`The receipt names the prices default@1, not ${name}.`)
    for (const account of [anyAccount, quote.account.toLowerCase()]) {
      const of = { ...quote, account }
      expect(about(receiptFor(of), fileFor(of)).status).toBe('pass')
    }
  })

  test('hidden sections break nothing, and a hidden charge decides nothing', () => {
    const file = receiptFor(quote)
    const hidden = { $hash: `0x${'00'.repeat(32)}` as const }
    const check = quoteCheck(fileFor({ ...quote, account: `0x${'11'.repeat(20)}`, model: 'x/y' }))
    const of = { ...quote, account: `0x${'11'.repeat(20)}`, model: 'x/y' }
    const other = receiptFor(of).receipt
    const blind: Receipt = { ...other, subject: hidden, run: hidden }
    expect(check(blind, trust.signers).status).toBe('pass')
    const without: Receipt = { ...file.receipt, charge: hidden }
    expect(quoteCheck(fileFor(quote))(without, trust.signers)).toEqual({
      status: 'unavailable',
      reason: 'The charge is hidden.',
    })
  })

  test('needs a signature of a key that may sign at its place of the log', () => {
    const file = receiptFor(quote)
    const stranger = signerFromHex(`0x${'22'.repeat(32)}`)
    const { status, reason } = about(file, fileFor(quote, stranger))
    expect([status, reason.startsWith('Quote: Expected a signature of')]).toEqual(['fail', true])
    const unknown = about(file, fileFor(quote), {} as typeof trust)
    expect([unknown.status, unknown.verdict.valid]).toEqual(['unavailable', false])
    expect(unknown.reason).toBe('Quote: No trusted signer was given.')
    const { address } = testSigner
    const retired = { signers: [{ address, fromIndex: 0n, untilIndex: 4n }] }
    expect(about(file, fileFor(quote), retired).status).toBe('fail')
    const late = { signers: [{ address, fromIndex: 0n, untilIndex: 5n }] }
    expect(about(file, fileFor(quote), late).status).toBe('pass')
    const broken = { ...fileFor(quote), signature: '0x00' }
    expect(about(file, broken).reason).toStartWith('The signature of the quote: ')
    const digest = `0x${'00'.repeat(32)}`
    expect(about(file, { ...fileFor(quote), digest }).reason).toStartWith('The quote was changed')
  })

  promise`D57`
  test('of which any byte is changed does not hold', () => {
    const file = receiptFor(quote)
    const whole = JSON.stringify(fileFor(quote))
    const places = [...whole].map((_, i) => i).filter((i) => /[0-9a-z]/.test(whole[i] ?? ''))
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.constantFrom(...'0123456789abcxyz'), (at, to) => {
        fc.pre(whole[at] !== to)
        const text = whole.slice(0, at) + to + whole.slice(at + 1)
        let given: unknown
        try {
          given = JSON.parse(text)
        } catch {
          return
        }
        expect(about(file, given).status).toBe('fail')
      }),
      { numRuns: 300 },
    )
  })

  test('tells a rate of nothing from no rate, and an unused receipt from a dear one', () => {
    const only = (...rates: Quote['rates']) => ({ ...open, rates })
    const reasonOf = (of: Quote, ...lines: SampleFacts['charge']['lines']) =>
      about(receiptFor(of, linesOf(...lines)), fileFor(of)).reason
    const kept = `No line is dearer than quote ${quote.id} says.`
    expect(reasonOf(only(rate('input', 0)), line('input', 1, 1))).toBe(
      'Expected at most 0 pUSD a unit of input; found 1.',
    )
    expect(reasonOf(only(rate('input', 0)), line('stories', 1, 0))).toBe(
      'The quote has no rate for stories.',
    )
    expect(reasonOf(only(rate('output', 5)), line('cache_write', 1, 0))).toBe(
      'The quote has no rate for cache_write.',
    )
    expect(reasonOf(only(), line('input', 0, 7))).toBe(kept)
  })

  test('of a stranger fails also beside a hidden charge', () => {
    const stranger = signerFromHex(`0x${'22'.repeat(32)}`)
    const charge = { $hash: `0x${'00'.repeat(32)}` as const }
    const check = quoteCheck(fileFor(quote, stranger))
    const hidden: Receipt = { ...receiptFor(quote).receipt, charge }
    expect(check(hidden, trust.signers).status).toBe('fail')
  })
})
