import { describe, expect, test } from 'bun:test'
import { isReceiptFile, parseReceiptFile, type ReceiptFile } from '../../src/verify/receipt.ts'
import { fileOf } from './samples.ts'

/** A copy of the file with one place of it set to something else (undefined: taken out). */
function changed(path: string, value: unknown): unknown {
  const file = structuredClone(fileOf()) as Record<string, unknown>
  const steps = path.split('.')
  const last = steps.pop() ?? ''
  let at = file
  for (const step of steps) at = at[step] as Record<string, unknown>
  if (value === undefined) delete at[last]
  else at[last] = value
  return file
}

test('our own file is read back as it is', () => {
  expect(parseReceiptFile(fileOf())).toEqual({ ok: true, file: fileOf() })
  expect(isReceiptFile(fileOf())).toBe(true)
})

describe('a file that is wrong inside names the place', () => {
  test.each([
    ['type', 'other', 'type', 'not "counterfoil.receipt"'],
    ['version', '2', 'version', 'not "1"'],
    ['version', 1, 'version', 'not "1"'],
    ['receipt', null, 'receipt', 'not an object'],
    ['receipt.domain', {}, 'receipt.domain', 'unknown member'],
    ['receipt.issuedAt', 1_790_000_000_321, 'receipt.issuedAt', 'not text'],
    ['receipt.issuedAt', '01', 'receipt.issuedAt', 'not a decimal integer below 2^64'],
    ['receipt.issuedAt', '-1', 'receipt.issuedAt', 'not a decimal integer below 2^64'],
    [
      'receipt.issuedAt',
      '18446744073709551616',
      'receipt.issuedAt',
      'not a decimal integer below 2^64',
    ],
    ['receipt.id', undefined, 'receipt.id', 'missing'],
    ['receipt.id', '\udc00', 'receipt.id', 'a lone surrogate'],
    ['receipt.run', undefined, 'receipt.run', 'not an object'],
    ['receipt.run.temperature', '1', 'receipt.run.temperature', 'unknown member'],
    ['receipt.run', { $hash: '0x00' }, 'receipt.run.$hash', 'not 32 bytes of lower-case hex'],
    [
      'receipt.run',
      { $hash: `0x${'00'.repeat(32)}`, model: 'a' },
      'receipt.run',
      'a hidden section has only $hash',
    ],
    ['receipt.charge.lines', {}, 'receipt.charge.lines', 'not a list'],
    ['receipt.charge.lines', Array(101).fill({}), 'receipt.charge.lines', 'more than 100 lines'],
    ['receipt.charge.lines.1.price', 5, 'receipt.charge.lines[1].price', 'not text'],
    ['receipt.charge.lines.0.tax', '5', 'receipt.charge.lines[0].tax', 'unknown member'],
    [
      'receipt.charge.salt',
      `0x${'AB'.repeat(32)}`,
      'receipt.charge.salt',
      'not 32 bytes of lower-case hex',
    ],
    ['receipt.subject.account', '0x00', 'receipt.subject.account', 'not an address'],
    [
      'receipt.subject.account',
      '0x70997970c51812dc3A010C7d01b50e0d17dc79C8',
      'receipt.subject.account',
      'not an address',
    ],
    ['receipt.$hash', `0x${'00'.repeat(32)}`, 'receipt.$hash', 'unknown member'],
    [
      'receipt.charge.lines.0.$hash',
      `0x${'00'.repeat(32)}`,
      'receipt.charge.lines[0].$hash',
      'unknown member',
    ],
    ['digest', undefined, 'digest', 'missing'],
    ['signature', 7, 'signature', 'not text'],
    ['disclosures', [], 'disclosures', 'not an object'],
    ['disclosures.input', 'x', 'disclosures.input', 'not an object'],
    ['disclosures.input.salt', '0x', 'disclosures.input.salt', 'not 32 bytes of lower-case hex'],
  ])('A file with %s = %p is refused at that place.', (path, value, where, message) => {
    expect(parseReceiptFile(changed(path, value))).toEqual({
      ok: false,
      problems: [{ path: where, message }],
    })
  })

  test('also __proto__, which is an unknown member like any other', () => {
    const text = JSON.stringify(fileOf()).replace('"receipt":{', '"receipt":{"__proto__":{"a":1},')
    expect(parseReceiptFile(JSON.parse(text))).toEqual({
      ok: false,
      problems: [{ path: 'receipt.__proto__', message: 'unknown member' }],
    })
  })

  test('but never more than twenty of them', () => {
    const members = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`m${i}`, i]))
    const parsed = parseReceiptFile(changed('receipt', members))
    expect(parsed.ok ? [] : parsed.problems).toHaveLength(20)
  })
})

test('the name of a wrong member is told with 100 characters at most', () => {
  const parsed = parseReceiptFile(changed(`receipt.${'m'.repeat(500)}`, 1))
  expect(parsed.ok ? [] : parsed.problems.map(({ path }) => path.length)).toEqual([100])
})

test.each([[undefined], [null], [1], ['x'], [[]], [{}], [{ type: 'counterfoil.receipt' }]])(
  '%p is not a receipt file',
  (value) => {
    expect(isReceiptFile(value)).toBe(false)
    expect(parseReceiptFile(value).ok).toBe(false)
  },
)

test('as many lines as are enough for any run may stand in it', () => {
  const lines = Array(100).fill({ meter: 'input', quantity: '1', price: '1' })
  expect(parseReceiptFile(changed('receipt.charge.lines', lines)).ok).toBe(true)
})

test.each(['proof', 'disclosures.input', 'disclosures.output', 'disclosures'])(
  'a %s that is null is as good as none',
  (path) => {
    const parsed = parseReceiptFile(changed(path, null))
    expect(parsed).toEqual({ ok: true, file: changed(path, undefined) as ReceiptFile })
    expect(JSON.stringify(parsed)).not.toContain('null')
  },
)

test('an account may be written in lower case or with its checksum', () => {
  const account = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
  expect(parseReceiptFile(changed('receipt.subject.account', account)).ok).toBe(true)
})
