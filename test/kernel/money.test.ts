import { describe, expect, test } from 'bun:test'
import { max, maxNusd, min, parseUsd, toJsonInteger, toUsd } from '../../src/kernel/money.ts'
import { prng } from '../ledger/prng.ts'
import { promise } from '../support/promise.ts'

describe('an amount in USD', () => {
  test.each([
    ['0', 0n],
    ['12.5', 12_500_000_000n],
    ['0.000000001', 1n],
    ['0001.10', 1_100_000_000n],
    ['9000000', maxNusd],
  ])('The text %j is an amount in USD.', (text, amount) => {
    expect(parseUsd(text)).toBe(amount)
  })

  promise`D4 C: An amount is a whole number in bounds; anything else is refused.`
  test.each([
    ...['', ' 5', '5 ', '+5', '-5', '-0', '1e3', '0x10', '1,5', '1_000', '.5', '5.', '1.2.3'],
    ...['NaN', 'Infinity', 'true', '５', '5\n', '5\0', '1.0000000001', '9000000.000000001'],
    ...['9007199254740992', `1${'0'.repeat(400)}`],
  ])('The text %j is not an amount.', (text) => {
    expect(parseUsd(text)).toBeUndefined()
  })

  test('is read back as it was written, to the nano-dollar', () => {
    const { below } = prng(4663)
    for (let i = 0; i < 2000; i++) {
      const amount = BigInt(below(9_000_000)) * 1_000_000_000n + BigInt(below(1_000_000_000))
      expect(parseUsd(toUsd(amount))).toBe(amount)
    }
  })
})

test('an amount beyond the bounds becomes no JSON number', () => {
  expect(toJsonInteger(maxNusd)).toBe(9e15)
  for (const amount of [maxNusd + 1n, -maxNusd - 1n, 2n ** 64n]) {
    expect(() => toJsonInteger(amount)).toThrow('JSON-safe')
  }
})

test('an amount is a JSON integer up to the most there can be, either way', () => {
  expect(toJsonInteger(maxNusd)).toBe(9e15)
  expect(toJsonInteger(-maxNusd)).toBe(-9e15)
  expect(() => toJsonInteger(maxNusd + 1n)).toThrow('JSON-safe')
  expect(() => toJsonInteger(-maxNusd - 1n)).toThrow('JSON-safe')
})

test('nothing is printed without a sign, and less than nothing with one', () => {
  expect([toUsd(0n), toUsd(-1n), toUsd(1n)]).toEqual(['0.00', '-0.000000001', '0.000000001'])
})

test('of two amounts the smaller and the larger', () => {
  expect([min(1n, 2n), min(2n, 1n), max(1n, 2n), max(2n, 1n)]).toEqual([1n, 1n, 2n, 2n])
})
