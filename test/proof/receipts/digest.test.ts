import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hashTypedData } from 'viem'
import { makeHmacSha256 } from '../../../src/kernel/hash.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import { costOf, type MeterLine } from '../../../src/models/meter.ts'
import { digestOf, makeReceipt, type ReceiptFacts } from '../../../src/proof/receipts/receipt.ts'
import { salt } from '../../../src/verify/commitment.ts'
import { domain } from '../../../src/verify/eip712.ts'
import { useWasmKeccak } from '../../../src/verify/fast/keccak-wasm.ts'
import { portableMemory, useKeccak } from '../../../src/verify/keccak.ts'
import { viemTypes } from '../../verify/samples.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const text = fc.string({ unit: 'grapheme', maxLength: 200 })
const count = fc.maxSafeNat()
const line = fc.record({
  meter: fc.constantFrom<MeterLine['meter']>('input', 'output', 'request'),
  quantity: fc.nat(),
  pricePusd: fc.bigInt(0n, 2n ** 40n),
})

const anyFacts: fc.Arbitrary<ReceiptFacts> = fc
  .record({
    id: text,
    issuer: text,
    issuedAt: count,
    account: bytes(20).map(toHex),
    keyId: text,
    passportHandle: text,
    run: fc.record({
      kind: fc.constantFrom('chat', 'embedding', 'terminal'),
      model: text,
      route: text,
      outcome: text,
      startedAt: count,
      durationMs: count,
      usageSource: text,
    }),
    charge: fc.record({
      lines: fc.array(line, { maxLength: 18 }),
      discountBps: fc.nat(10_000),
      priceList: text,
    }),
    inputCommitment: bytes(32),
    outputCommitment: fc.option(bytes(32)),
    seed: bytes(32),
  })
  .map(({ charge, ...facts }) => ({
    ...facts,
    charge: { ...charge, amount: costOf(charge.lines, charge.discountBps) },
  }))

const [sample] = fc.sample(anyFacts, { numRuns: 1, seed: 7 })
if (!sample) throw new Error('no sample')

/** What a wallet computes from the receipt as published. */
const walletDigest = (facts: ReceiptFacts) => {
  const message = makeReceipt(facts) as unknown as Record<string, unknown>
  return hashTypedData({ domain, types: viemTypes, primaryType: 'Receipt', message })
}

describe.each([
  ['portable', () => useKeccak(portableMemory)],
  ['wasm', useWasmKeccak],
])('with the %s Keccak', (_, use) => {
  beforeAll(use)
  afterAll(() => useKeccak(portableMemory))

  test('the digest of any run is that of its receipt', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(toHex(digestOf(facts))).toBe(walletDigest(facts))
      }),
      { numRuns: 300 },
    )
  })

  test('texts of every length and more texts than are remembered keep it right', () => {
    for (const length of [0, 127, 128, 129, 135, 136, 137, 6770, 6771, 8200, 70_000]) {
      const facts = { ...sample, id: 'é'.repeat(length), issuer: '€'.repeat(length) }
      expect(toHex(digestOf(facts))).toBe(walletDigest(facts))
    }
    for (let i = 0; i < 1500; i++) {
      const facts = { ...sample, keyId: `key_${i}` }
      if (i % 50 > 0) digestOf(facts)
      else expect(toHex(digestOf(facts))).toBe(walletDigest(facts))
    }
  })
})

test('amounts up to the largest uint64 are hashed, and one more is a bug', () => {
  const of = (pricePusd: bigint): ReceiptFacts => {
    const lines: MeterLine[] = [{ meter: 'request', quantity: 1, pricePusd }]
    return {
      ...sample,
      charge: { ...sample.charge, lines, amount: costOf(lines, 0), discountBps: 0 },
    }
  }
  for (const price of [2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
    expect(toHex(digestOf(of(price)))).toBe(walletDigest(of(price)))
  }
  expect(() => digestOf(of(2n ** 64n))).toThrow(RangeError)
})

test.each([
  ['an account of 19 bytes', { account: `0x${'11'.repeat(19)}` }],
  ['an account that is not hex', { account: `0x${'zz'.repeat(20)}` }],
  ['a lone surrogate', { id: '\ud800' }],
  ['a lone surrogate in a text that may be remembered', { issuer: 'a\udc00' }],
  ['a negative time', { issuedAt: -1 as ReceiptFacts['issuedAt'] }],
  ['a commitment of 31 bytes', { inputCommitment: new Uint8Array(31) }],
  ['a seed of 16 bytes', { seed: new Uint8Array(16) }],
])('%s has no digest, and spoils no later one', (_, wrong) => {
  expect(() => digestOf({ ...sample, ...wrong })).toThrow()
  expect(toHex(digestOf(sample))).toBe(walletDigest(sample))
})

test('a line that no digest can say, behind others, spoils no later one', () => {
  const free = { meter: 'output', pricePusd: 0n } as const
  const charged = (lines: MeterLine[]): ReceiptFacts => ({
    ...sample,
    charge: { ...sample.charge, lines, amount: 0n },
  })
  const one = charged([{ ...free, quantity: 7 }])
  const wrong = charged([1, 2, 3, 2 ** 53].map((quantity) => ({ ...free, quantity })))
  expect(toHex(digestOf(one))).toBe(walletDigest(one))
  expect(() => digestOf(wrong)).toThrow(RangeError)
  expect(toHex(digestOf(one))).toBe(walletDigest(one))
})

test('a salt written in place is the salt of the design', () => {
  fc.assert(
    fc.property(bytes(32), fc.string({ maxLength: 80 }), (seed, name) => {
      const out = new Uint8Array(32)
      makeHmacSha256(`salt/v1/${name}`)(seed, out)
      expect(toHex(out)).toBe(toHex(salt(seed, name)))
    }),
  )
})
