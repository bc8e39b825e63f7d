/** Writes runs in the columns of FOCUS 1.2. */
import { canonical } from '../../kernel/canonical.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { plainField, textField, toLine } from '../../kernel/csv.ts'
import { toHex } from '../../kernel/hex.ts'
import { type Nusd, type Pusd, toUsd } from '../../kernel/money.ts'
import type { Meter, MeterLine } from '../../models/meter.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import type { ExportedRun } from './store.ts'

/** The input of one meter line of a run. */
type Charge = { run: ExportedRun; line: MeterLine; cost: Nusd }

/** A field of a column: the same in all lines of a run, or each line's own. */
type Field =
  | { run: (run: ExportedRun, keyName: string) => string }
  | { line: (charge: Charge) => string }

/** An empty field is FOCUS's null. */
const absent = { run: () => '' }

/**
 * Every mandatory column of a FOCUS 1.2 cost and usage dataset, the conditional ones whose
 * condition we meet (published unit prices, sub-accounts, tags, measured usage), then our own. List
 * and contracted costs are the exact product of quantity and price; billed and effective ones are
 * what the account was charged, which is rounded once a run and less its discount.
 */
const columns: readonly [id: string, field: Field][] = [
  ['BilledCost', { line: ({ cost }) => plainField(toUsd(cost)) }],
  ['BillingAccountId', { run: (run) => plainField(run.accountId) }],
  ['BillingAccountName', absent],
  ['BillingCurrency', { run: () => 'USD' }],
  ['BillingPeriodEnd', { run: (run) => toSeconds(monthOf(run.finishedAt, 1)) }],
  ['BillingPeriodStart', { run: (run) => toSeconds(monthOf(run.finishedAt, 0)) }],
  ['ChargeCategory', { run: () => 'Usage' }],
  ['ChargeClass', absent],
  ['ChargeDescription', { line: ({ run, line }) => textField(describe(run, line)) }],
  ['ChargeFrequency', { run: () => 'Usage-Based' }],
  ['ChargePeriodEnd', { run: (run) => toSeconds(run.finishedAt + secondMs) }],
  ['ChargePeriodStart', { run: (run) => toSeconds(run.startedAt ?? run.createdAt) }],
  ['ConsumedQuantity', { line: ({ line }) => plainField(line.quantity) }],
  ['ConsumedUnit', { line: ({ line }) => unitOf(line) }],
  ['ContractedCost', { line: ({ line }) => plainField(picoToUsd(listOf(line))) }],
  ['ContractedUnitPrice', { line: ({ line }) => plainField(picoToUsd(line.pricePusd)) }],
  ['EffectiveCost', { line: ({ cost }) => plainField(toUsd(cost)) }],
  ['InvoiceIssuerName', { run: (run) => textField(run.issuer) }],
  ['ListCost', { line: ({ line }) => plainField(picoToUsd(listOf(line))) }],
  ['ListUnitPrice', { line: ({ line }) => plainField(picoToUsd(line.pricePusd)) }],
  ['PricingCategory', { run: () => 'Standard' }],
  ['PricingQuantity', { line: ({ line }) => plainField(line.quantity) }],
  ['PricingUnit', { line: ({ line }) => unitOf(line) }],
  ['ProviderName', { run: (run) => textField(run.issuer) }],
  ['PublisherName', { run: (run) => textField(ownerOf(run.model)) }],
  ['ServiceCategory', { run: () => 'AI and Machine Learning' }],
  ['ServiceName', { run: (run) => services[run.kind].name }],
  ['ServiceSubcategory', { run: (run) => services[run.kind].subcategory }],
  ['SkuId', { line: ({ run, line }) => textField(skuOf(run, line)) }],
  ['SkuMeter', { line: ({ line }) => textField(meterOf(line).sku) }],
  ['SkuPriceDetails', { line: ({ line }) => textField(detailsOf(line)) }],
  ['SkuPriceId', { line: ({ run, line }) => textField(skuPriceOf(run, line)) }],
  ['SubAccountId', { run: (run) => plainField(run.keyId) }],
  ['SubAccountName', { run: (_, keyName) => textField(keyName) }],
  ['Tags', { run: (run) => textField(canonical(run.tags)) }],
  ['x_DiscountBasisPoints', { run: (run) => plainField(run.discountBps) }],
  ['x_Outcome', { run: (run) => plainField(run.outcome ?? '') }],
  ['x_Passport', { run: (run) => textField(run.passport) }],
  ['x_ReceiptDigest', { run: (run) => plainField(toHex(run.digest)) }],
  ['x_ReceiptId', { run: (run) => plainField(receiptIdOf(run.id)) }],
  ['x_RunId', { run: (run) => plainField(run.id) }],
  ['x_UsageSource', { run: (run) => plainField(run.usageSource ?? '') }],
]

export const focusColumns: readonly string[] = columns.map(([id]) => id)

export const focus = {
  header: toLine(focusColumns),
  /** One line for each of a run's meter lines; a run that used nothing known has none. */
  linesOf(run: ExportedRun, lines: readonly MeterLine[], keyName: string): string {
    const costs = shareCost(run.cost, lines)
    const shared = columns.map(([, field]) => ('run' in field ? field.run(run, keyName) : ''))
    return lines
      .map((line, i) => {
        const charge = { run, line, cost: costs[i] ?? 0n }
        return toLine(
          columns.map(([, field], at) =>
            'line' in field ? field.line(charge) : (shared[at] ?? ''),
          ),
        )
      })
      .join('')
  },
}

/**
 * What each line has of a run's cost, in proportion to its list cost and to the nano-dollar: the
 * shares come to the cost exactly.
 */
export function shareCost(cost: Nusd, lines: readonly MeterLine[]): Nusd[] {
  const all = lines.reduce((sum, line) => sum + listOf(line), 0n)
  let listed: Pusd = 0n
  let given: Nusd = 0n
  return lines.map((line) => {
    listed += listOf(line)
    const until = all === 0n ? 0n : (cost * listed) / all
    const share = until - given
    given = until
    return share
  })
}

const secondMs = 1000

/** `details` are what tools can sum over meters by, and tell the classes of a side apart. */
type MeterFields = { unit: string; sku: string; details?: { readonly [name: string]: string } }

const tokens = (sku: string, details: MeterFields['details']): MeterFields => ({
  unit: 'Tokens',
  sku,
  details,
})

const meters: Record<Meter, MeterFields> = {
  input: tokens('Input Tokens', { Direction: 'Input' }),
  cache_read: tokens('Cached Input Tokens', { Direction: 'Input', Cache: 'Read' }),
  cache_write: tokens('Cache Write Tokens', { Direction: 'Input', Cache: 'Write' }),
  cache_write_1h: tokens('Cache Write Tokens (1 hour)', {
    ...{ Direction: 'Input', Cache: 'Write', CacheLifetime: '1 hour' },
  }),
  audio_input: tokens('Audio Input Tokens', { Direction: 'Input', Modality: 'Audio' }),
  image_input: tokens('Image Input Tokens', { Direction: 'Input', Modality: 'Image' }),
  output: tokens('Output Tokens', { Direction: 'Output' }),
  reasoning: tokens('Reasoning Tokens', { Direction: 'Output', Content: 'Reasoning' }),
  audio_output: tokens('Audio Output Tokens', { Direction: 'Output', Modality: 'Audio' }),
  image_output: tokens('Image Output Tokens', { Direction: 'Output', Modality: 'Image' }),
  web_search: { unit: 'Calls', sku: 'Web Searches', details: { Tool: 'Web search' } },
  request: { unit: 'Requests', sku: 'Requests' },
}

const services = {
  chat: { name: 'Chat completions', subcategory: 'Generative AI' },
  embedding: { name: 'Embeddings', subcategory: 'Machine Learning' },
} as const

/** A line of a later version can have a meter that is not known here: then its name is all. */
const meterOf = ({ meter }: MeterLine): MeterFields =>
  Object.hasOwn(meters, meter) ? meters[meter] : { unit: 'Units', sku: meter }

const unitOf = (line: MeterLine): string => meterOf(line).unit

/** FOCUS's null for a meter that has none. */
function detailsOf(line: MeterLine): string {
  const { details } = meterOf(line)
  return details ? canonical(details) : ''
}

/** Pico-USD of a line before rounding and discount. */
const listOf = (line: MeterLine): Pusd => BigInt(line.quantity) * line.pricePusd

const skuOf = (run: ExportedRun, line: MeterLine): string => `${run.model}:${line.meter}`

/** A list can have several prices of a meter, by bands and tiers: the price tells them apart. */
const skuPriceOf = (run: ExportedRun, line: MeterLine): string =>
  `${skuOf(run, line)}:${run.priceList}:${line.pricePusd}`

const describe = (run: ExportedRun, line: MeterLine): string =>
  `${meterOf(line).sku} of ${run.model}`

/** `acme` of `acme/small`. */
const ownerOf = (model: string): string => model.split('/', 1)[0] || model

/** Decimal USD with up to twelve decimals and no trailing zeros. */
function picoToUsd(amount: Pusd): string {
  const digits = amount.toString().padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '')
}

/** `YYYY-MM-DDTHH:mm:ssZ`: whole seconds, as FOCUS writes a time. */
const toSeconds = (at: Millis): string => `${toRfc3339(at).slice(0, 19)}Z`

/** The beginning of the month of a time, or of one `after` it. */
function monthOf(at: Millis, after: number): Millis {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + after, 1)
}
