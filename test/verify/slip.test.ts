import { describe, expect, test } from 'bun:test'
import { meters } from '../../src/models/meter.ts'
import { meterInText, meterWords } from '../../src/verify/meter-words.ts'
import { type Receipt, redact, type SectionName } from '../../src/verify/receipt.ts'
import { slipLines, totalOf } from '../../src/verify/slip-lines.ts'
import { fileOf } from './samples.ts'

const { receipt } = fileOf()
const by = { signer: '0xsigner', digest: '0xdigest' }

/** The slip of the sample, or of one with some members of its sections set to something else. */
const slip = (change: { [Name in SectionName]?: object } = {}, told = by) =>
  slipLines(changed(change), told)
const changed = (change: { [Name in SectionName]?: object }): Receipt => {
  const parts = Object.entries(change).map(([name, members]) => [
    name,
    { ...receipt[name as SectionName], ...members },
  ])
  return { ...receipt, ...Object.fromEntries(parts) }
}
const named = (name: string, lines: ReturnType<typeof slip>) =>
  lines.filter(([own]) => own === name).map(([, value]) => value)

test('a slip says all of a receipt, line by line', () => {
  const { input, output } = receipt.content as { input: string; output: string }
  expect(slip()).toEqual([
    ['Model', 'acme/small-1'],
    ['Run', 'chat, 0.32 s'],
    ['Route', 'local:small'],
    ['Outcome', 'complete'],
    ['Input', '75 at $0.15 per 1M = $0.00001125'],
    ['Output', '21 at $0.600001 per 1M = $0.000012600021'],
    ['Discount', '2.5%'],
    ['Paid by', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    ['Key', 'key_01jd7m3v5k0000000000000000'],
    ['Passport', '@harvester'],
    ['Input hash', `${input.slice(0, 10)}…${input.slice(-8)}`],
    ['Output hash', `${output.slice(0, 10)}…${output.slice(-8)}`],
    ['Signed by', '0xsigner'],
    ['Digest', '0xdigest'],
  ])
})

test.each([
  ['subject', 'Paid by'],
  ['passport', 'Passport'],
  ['run', 'Run'],
  ['charge', 'Charge'],
  ['content', 'Commitments'],
] as const)('of a hidden %s it says one line, which is hidden', (section, name) => {
  const whole = slip()
  const lines = slipLines(redact(receipt, [section]), by)
  const own = lines.filter(([, value]) => value === undefined)
  expect(own).toEqual([[name, undefined]])
  // What is shown of the others stands there as before, and nothing else does.
  const others = lines.filter(([, value]) => value !== undefined)
  expect(others.every(([name, value]) => named(name, whole).includes(value))).toBe(true)
})

test('what is not there has no line: no discount, no passport, no digest', () => {
  expect(named('Discount', slip({ charge: { discountBps: '0' } }))).toEqual([])
  expect(named('Passport', slip({ passport: { handle: '' } }))).toEqual([])
  const lines = slipLines(receipt, { signer: null, digest: null })
  expect([named('Digest', lines), named('Signed by', lines)]).toEqual([[], ['unknown']])
})

test('how long a run took is told in seconds, with two digits', () => {
  expect(named('Run', slip({ run: { durationMs: '60000' } }))).toEqual(['chat, 60.00 s'])
  expect(named('Run', slip({ run: { durationMs: '0' } }))).toEqual(['chat, 0.00 s'])
})

test('an output that was none is said to be none', () => {
  const none = `0x${'0'.repeat(64)}`
  expect(named('Output hash', slip({ content: { output: none } }))).toEqual(['none'])
})

describe('a price', () => {
  test.each([
    ['0', '$0.00 per 1M'],
    ['1', '$0.000001 per 1M'],
    ['1000000', '$1.00 per 1M'],
    ['999999999', '$999.999999 per 1M'],
    ['1000000000', '$0.001 each'],
    ['1234500000000', '$1.2345 each'],
    ['12000000000000', '$12.00 each'],
    ['1234567000000000000', '$1,234,567.00 each'],
  ])('of %s pico-USD is told as %s', (price, words) => {
    const lines = [{ meter: 'input', quantity: '1', price }]
    const [told = ''] = named('Input', slip({ charge: { lines } }))
    expect(told).toStartWith(`1 at ${words} = `)
  })

  test.each([
    ['web_search', 'Web searches', '3 at $0.01 each = $0.03'],
    ['request', 'Request', '3 at $0.01 each = $0.03'],
    ['cache_write_1h', 'Cache write (1 hour)', '3 at $0.01 each = $0.03'],
  ])('A price of %s is shown per call.', (meter, name, words) => {
    const lines = [{ meter, quantity: '3', price: '10000000000' }]
    expect(named(name, slip({ charge: { lines } }))).toEqual([words])
  })

  test('of a call is told about a call, however small it is', () => {
    const lines = [{ meter: 'web_search', quantity: '1234', price: '5000' }]
    const told = named('Web searches', slip({ charge: { lines } }))
    expect(told).toEqual(['1,234 at $0.000000005 each = $0.00000617'])
  })
})

describe('a meter', () => {
  test('has plain words, each its own', () => {
    const told = meters.map(meterWords)
    expect(told.filter((words, i) => words === meters[i])).toEqual([])
    expect(new Set(told).size).toBe(meters.length)
  })

  test.each(['video_input', 'GPU', '__proto__', 'constructor', '', 'x'.repeat(300)])(
    'of a later version, %p, keeps its own name',
    (meter) => {
      const lines = [{ meter, quantity: '7', price: '2000000' }]
      const own = slip({ charge: { lines } }).find(([, value]) => value?.startsWith('7 at'))
      expect(own).toEqual([meter, '7 at $2.00 per 1M = $0.000014'])
      expect(meterInText(meter)).toBe(meter)
    },
  )
})

describe('a total', () => {
  test.each([
    ['0', ['$0.00', '']],
    ['1', ['$0.00', '0000001']],
    ['23255', ['$0.00', '0023255']],
    ['90000000', ['$0.09', '']],
    ['1234567890', ['$1.23', '456789']],
    ['1234567000000000', ['$1,234,567.00', '']],
  ])('of %s nano-USD is told as %p', (amount, words) => {
    expect(totalOf(changed({ charge: { amount } }))).toEqual(words as [string, string])
  })

  test('of a hidden charge is not told', () => {
    expect(totalOf(redact(receipt, ['charge']))).toBeUndefined()
  })
})
