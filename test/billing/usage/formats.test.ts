import { describe, expect, test } from 'bun:test'
import { shareCost } from '../../../src/billing/usage/focus-export.ts'
import { csv, type ExportedKey, exportFormats, jsonl } from '../../../src/billing/usage/formats.ts'
import type { ExportedRun } from '../../../src/billing/usage/store.ts'
import { plainField, textField, toLine } from '../../../src/kernel/csv.ts'
import { costOf, type Meter, type MeterLine, meters } from '../../../src/models/meter.ts'
import type { RunRow } from '../../../src/storage/db/schema/schema.ts'
import { prng } from '../../ledger/prng.ts'
import { promise } from '../../support/promise.ts'
import { classLines, parseCsv, picoOf, recordsOf } from './receipts.ts'

/** Those that FOCUS 1.2 calls mandatory for a cost and usage dataset. */
const mandatory = [
  ...['BilledCost', 'BillingAccountId', 'BillingAccountName', 'BillingCurrency'],
  ...['BillingPeriodEnd', 'BillingPeriodStart', 'ChargeCategory', 'ChargeClass'],
  ...['ChargeDescription', 'ChargePeriodEnd', 'ChargePeriodStart', 'ContractedCost'],
  ...['EffectiveCost', 'InvoiceIssuerName', 'ListCost', 'PricingQuantity', 'PricingUnit'],
  ...['ProviderName', 'PublisherName', 'ServiceCategory', 'ServiceName'],
]
/** Those whose condition we meet, and those it recommends that we can tell. */
const conditional = [
  ...['ChargeFrequency', 'ConsumedQuantity', 'ConsumedUnit', 'ContractedUnitPrice'],
  ...['ListUnitPrice', 'PricingCategory', 'ServiceSubcategory', 'SkuId', 'SkuMeter'],
  ...['SkuPriceDetails', 'SkuPriceId', 'SubAccountId', 'SubAccountName', 'Tags'],
]

const run: ExportedRun = {
  id: 'run_01k9c0000000000000000000aa',
  place: 7,
  accountId: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  keyId: 'key_01k9c0000000000000000000bb',
  model: 'acme/small',
  kind: 'chat',
  route: 'acme:small',
  status: 'succeeded',
  outcome: 'complete',
  createdAt: Date.UTC(2026, 11, 31, 23, 59, 58, 250),
  startedAt: Date.UTC(2026, 11, 31, 23, 59, 58, 900),
  firstByteAt: Date.UTC(2026, 11, 31, 23, 59, 59, 100),
  finishedAt: Date.UTC(2026, 11, 31, 23, 59, 59, 999),
  lines: [
    { meter: 'input', quantity: 31, price: '150001' },
    { meter: 'output', quantity: 7, price: '600000' },
    { meter: 'request', quantity: 1, price: '5000' },
  ],
  // 4,650.031 + 4,200 + 5 rounded up are 8,856; less 5 %, rounded down, which is 442.
  cost: 8414n,
  discountBps: 500,
  usageSource: 'reported',
  priceList: 'prices@3',
  passport: 'my-agent',
  issuer: 'https://gw.example',
  tags: { team: 'red' },
  digest: new Uint8Array(32).fill(1),
}
const key: ExportedKey = { name: 'agent', parentId: null }

const written = (name: keyof typeof exportFormats, row = run, of = key) =>
  exportFormats[name].header + exportFormats[name].linesOf(row, of)

describe('FOCUS 1.2', () => {
  const records = recordsOf(written('focus'))

  test('has every mandatory column, and ours behind them with their prefix', () => {
    const columns = parseCsv(written('focus'))[0] ?? []
    const standard = columns.filter((column) => !column.startsWith('x_'))
    expect(standard).toEqual([...mandatory, ...conditional].sort())
    expect(columns.slice(0, standard.length)).toEqual(standard)
    const own = columns.slice(standard.length)
    expect(own.every((column) => /^x_[A-Z][A-Za-z]+$/.test(column))).toBe(true)
  })

  test('has a line for each meter line', () => {
    expect(records.map((record) => record['SkuId'])).toEqual([
      'acme/small:input',
      'acme/small:output',
      'acme/small:request',
    ])
    expect(records[0]).toEqual({
      BilledCost: '0.000004418',
      BillingAccountId: run.accountId,
      BillingAccountName: '',
      BillingCurrency: 'USD',
      BillingPeriodEnd: '2027-01-01T00:00:00Z',
      BillingPeriodStart: '2026-12-01T00:00:00Z',
      ChargeCategory: 'Usage',
      ChargeClass: '',
      ChargeDescription: 'Input Tokens of acme/small',
      ChargeFrequency: 'Usage-Based',
      ChargePeriodEnd: '2027-01-01T00:00:00Z',
      ChargePeriodStart: '2026-12-31T23:59:58Z',
      ConsumedQuantity: '31',
      ConsumedUnit: 'Tokens',
      ContractedCost: '0.000004650031',
      ContractedUnitPrice: '0.000000150001',
      EffectiveCost: '0.000004418',
      InvoiceIssuerName: 'https://gw.example',
      ListCost: '0.000004650031',
      ListUnitPrice: '0.000000150001',
      PricingCategory: 'Standard',
      PricingQuantity: '31',
      PricingUnit: 'Tokens',
      ProviderName: 'https://gw.example',
      PublisherName: 'acme',
      ServiceCategory: 'AI and Machine Learning',
      ServiceName: 'Chat completions',
      ServiceSubcategory: 'Generative AI',
      SkuId: 'acme/small:input',
      SkuMeter: 'Input Tokens',
      SkuPriceDetails: '{"Direction":"Input"}',
      SkuPriceId: 'acme/small:input:prices@3:150001',
      SubAccountId: run.keyId,
      SubAccountName: 'agent',
      Tags: '{"team":"red"}',
      x_DiscountBasisPoints: '500',
      x_Outcome: 'complete',
      x_Passport: 'my-agent',
      x_ReceiptDigest: `0x${'01'.repeat(32)}`,
      x_ReceiptId: 'rcpt_01k9c0000000000000000000aa',
      x_RunId: run.id,
      x_UsageSource: 'reported',
    })
  })

  test('leaves nothing empty but what may be null', () => {
    const nullable = ['BillingAccountName', 'ChargeClass']
    for (const record of records) {
      const empty = Object.entries(record).filter(([, value]) => value === '')
      const own = record['SkuMeter'] === 'Requests' ? ['SkuPriceDetails'] : []
      expect(empty.map(([column]) => column)).toEqual([...nullable, ...own])
    }
  })

  describe('of a run with every meter', () => {
    const cost = costOf(
      classLines.map(({ meter, ...line }) => ({
        ...{ meter: meter as Meter, ...line, pricePusd: BigInt(line.price) },
      })),
      500,
    )
    const all = recordsOf(written('focus', { ...run, lines: classLines, cost }))

    promise`O2`
    test('has a SKU, a unit and an exact price for each', () => {
      expect(all.map((record) => record['SkuId'])).toEqual(
        meters.map((meter) => `acme/small:${meter}`),
      )
      const told = all.map((record) => [record['SkuMeter'], record['PricingUnit']])
      expect(new Set(told.map(([meter]) => meter)).size).toBe(meters.length)
      expect(told.filter(([, unit]) => unit === 'Tokens')).toHaveLength(10)
      expect(told.slice(-2)).toEqual([
        ['Web Searches', 'Calls'],
        ['Requests', 'Requests'],
      ])
      for (const record of all) {
        const product =
          picoOf(record['ListUnitPrice'] ?? '') * BigInt(record['PricingQuantity'] ?? '')
        expect(picoOf(record['ListCost'] ?? '')).toBe(product)
        expect(record['ConsumedUnit']).toBe(record['PricingUnit'])
        expect(record['PricingCategory']).toBe('Standard')
      }
      const billed = all.reduce((sum, { BilledCost }) => sum + picoOf(BilledCost ?? ''), 0n)
      expect(billed).toBe(cost * 1000n)
    })

    test('tells the sides and the classes apart by SkuPriceDetails', () => {
      const read = all.filter((one) => one['SkuPriceDetails']?.includes('"Direction":"Input"'))
      const units = read.reduce((sum, one) => sum + Number(one['ConsumedQuantity']), 0)
      expect([read.length, units]).toEqual([6, 2000])
      const details = all.map((one) => one['SkuPriceDetails'] ?? '').filter((one) => one !== '')
      expect(new Set(details).size).toBe(meters.length - 1)
      for (const one of details) {
        const pairs = Object.entries(JSON.parse(one))
        expect(
          pairs.every(([name, value]) => /^[A-Z]/.test(name) && typeof value === 'string'),
        ).toBe(true)
      }
    })

    test('has another SkuPriceId for another price of the same meter', () => {
      const lines = [{ meter: 'input', quantity: 31, price: '300002' }]
      const [band] = recordsOf(written('focus', { ...run, lines, cost: 1n }))
      expect(band?.['SkuPriceId']).toBe('acme/small:input:prices@3:300002')
    })
  })

  test.each(['video_input', '=1+1', '__proto__'])(
    'names a meter of later, %p, as it is',
    (meter) => {
      const lines = [{ meter, quantity: 3, price: '1000000000' }]
      const [one] = recordsOf(written('focus', { ...run, lines, cost: 3_000_000n }))
      expect(one).toMatchObject({
        ...{ PricingUnit: 'Units', ListCost: '0.003', SkuPriceDetails: '' },
        SkuMeter: meter.startsWith('=') ? `'${meter}` : meter,
      })
    },
  )

  test('multiplies: list and contracted cost are price times quantity, exactly', () => {
    for (const record of records) {
      const product =
        picoOf(record['ListUnitPrice'] ?? '') * BigInt(record['PricingQuantity'] ?? '')
      expect(picoOf(record['ListCost'] ?? '')).toBe(product)
      expect(record['ContractedCost']).toBe(record['ListCost'])
      expect(record['ContractedUnitPrice']).toBe(record['ListUnitPrice'])
    }
  })

  test('shares the cost of a run out to its lines, to the nano-dollar', () => {
    const dice = prng(12)
    for (let round = 0; round < 500; round++) {
      const meters = ['input', 'output', 'request'] as const
      const lines: MeterLine[] = meters.slice(0, dice.below(4)).map((meter) => ({
        meter,
        quantity: dice.below(3) * dice.below(100_000),
        pricePusd: BigInt(dice.below(2) * dice.below(900_000)),
      }))
      const cost = costOf(lines, dice.below(10_001))
      const shares = shareCost(cost, lines)
      expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(cost)
      expect(shares.every((share) => share >= 0n)).toBe(true)
    }
  })

  test('has no line for a run that has none, and zeros for one that used nothing', () => {
    expect(recordsOf(written('focus', { ...run, lines: [], cost: 0n }))).toEqual([])
    const lines = [{ meter: 'input', quantity: 0, price: '150000' }]
    const [nothing] = recordsOf(written('focus', { ...run, lines, cost: 0n }))
    expect(nothing).toMatchObject({ BilledCost: '0.00', ListCost: '0', ConsumedQuantity: '0' })
  })
})

describe('a text of someone in a CSV', () => {
  const hostile = [
    ...['=1+1', '=HYPERLINK("http://x","y")', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1'],
    ...['  =1', '\u00a0=1', '＝1', '＋1', '－1', '＠x', '=cmd|" /C calc"!A0', '-2+3+cmd'],
  ]
  test.each(hostile)('The field %j is written as text, not as a formula.', (name) => {
    const field = parseCsv(toLine([textField(name)]))[0]?.[0]
    expect(field).toBe(`'${name}`)
    for (const form of ['csv', 'focus'] as const) {
      const row = { ...run, model: name, passport: name, issuer: name, priceList: name }
      const cells = parseCsv(written(form, row, { name, parentId: null })).flat()
      expect(cells.filter((cell) => /^\s*[=+\-@＝＋－＠]/.test(cell))).toEqual([])
      expect(cells).toContain(`'${name}`)
    }
  })

  const plain = ['a', 'a,b', 'a"b', '"', '""', 'a\r\nb', 'a\nb', '', 'é 🦊', "'=1", ' a ', '1e5']
  test.each(plain)('%j comes back as it was', (name) => {
    const line = toLine([plainField(1), textField(name), plainField(2n)])
    expect(parseCsv(line)).toEqual([['1', name, '2']])
    expect(recordsOf(written('csv', run, { name, parentId: null }))[0]?.['key_name']).toBe(name)
  })
})

test('JSON lines say names as they are, and tags in one order', () => {
  const tags: RunRow['tags'] = { b: '=2', a: '\u2028', '1': 'x' }
  const line = jsonl.linesOf({ ...run, tags }, { name: '=1+1', parentId: 'key_1' })
  expect(line.split('\n').length).toBe(2)
  const { key_name, parent_key_id, tags: read } = JSON.parse(line)
  expect([key_name, parent_key_id, read]).toEqual(['=1+1', 'key_1', tags])
  const reversed = Object.fromEntries(Object.entries(tags).reverse())
  expect(jsonl.linesOf({ ...run, tags: reversed }, { name: '=1+1', parentId: 'key_1' })).toBe(line)
  expect(csv.linesOf({ ...run, tags: reversed }, key)).toBe(csv.linesOf({ ...run, tags }, key))
})
