import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseDecimal, roundUp } from '../../../src/kernel/decimal.ts'
import { type ExactJson, NumberText, parseExactJson } from '../../../src/kernel/exact-json.ts'
import { readMarkup } from '../../../src/models/price-files/price-entry.ts'
import { promise } from '../../support/promise.ts'

describe('numbers of a price file', () => {
  test('keep every digit that the file has, also with an exponent', () => {
    const read = parseExactJson('{"a": 1e-06, "b": [0.30000000000000004, -7], "c": "1e-6"}')
    const text = (value: ExactJson) => (value instanceof NumberText ? value.text : value)
    expect(read).toEqual({
      a: new NumberText('1e-06'),
      b: [new NumberText('0.30000000000000004'), new NumberText('-7')],
      c: '1e-6',
    })
    expect(text(new NumberText('3.00'))).toBe('3.00')
  })

  promise`O6 H: Imported prices are exact, and one without a meter is refused by its name.`
  test.each([
    ['0.000003', 3_000_000n, false],
    ['3e-06', 3_000_000n, false],
    ['3E-6', 3_000_000n, false],
    ['1.5e-7', 150_000n, false],
    ['2.7500000000000001e-07', 275_001n, true],
    ['0.0000000000001', 1n, true],
    ['12', 12_000_000_000_000n, false],
    ['0', 0n, false],
  ])('%s USD is %s pUSD', (text, value, isRounded) => {
    const decimal = parseDecimal(text)
    expect(decimal && roundUp(decimal, 12)).toEqual({ value, isRounded })
  })

  test.each(['', '.5', '1.', '1e', '0x1', 'NaN', '1e999', ' 1', '1,5', '--1'])(
    '"%s" is none',
    (text) => expect(parseDecimal(text)).toBeUndefined(),
  )

  test('rounding up is exact for any decimal: never below, and less than one above', () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 20n })
    fc.assert(
      fc.property(digits, fc.integer({ min: -6, max: 25 }), (given, scale) => {
        const { value, isRounded } = roundUp({ digits: given, scale }, 12)
        const at = 10n ** 30n
        const exact = (given * at * 10n ** 12n) / (scale >= 0 ? 10n ** BigInt(scale) : 1n)
        const wanted = scale >= 0 ? exact : exact * 10n ** BigInt(-scale)
        expect(value * at >= wanted && (value - 1n) * at < wanted).toBe(true)
        expect(isRounded).toBe(value * at !== wanted)
      }),
    )
  })

  test.each([
    ['8%', 1_080_000n],
    ['0%', 1_000_000n],
    ['12.5 %', 1_125_000n],
    ['1000%', 11_000_000n],
  ])('A markup of %s is read.', (text, value) => {
    const factor = readMarkup(text)
    expect(factor && roundUp(factor, 6).value).toBe(value)
  })
  test.each(['8', '-1%', '1001%', '%', 'a%', '1e1%'])('"%s" is refused as a markup', (text) =>
    expect(readMarkup(text)).toBeUndefined(),
  )
})
