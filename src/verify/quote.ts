/** Reads quotes, and checks that a receipt kept the one that it names. */
import { toHex } from '../kernel/hex.ts'
import {
  checkSigner,
  fail,
  type Outcome,
  pass,
  type QuoteCheck,
  quotePrefix,
  type TrustedSigner,
  told,
  unavailable,
} from './checks.ts'
import { structDigest } from './eip712.ts'
import { inputMeters, outputMeters } from './meter-words.ts'
import {
  isHidden,
  isObject,
  type Problem,
  type Receipt,
  readMember,
  readStruct,
  refuseOthers,
  type Sections,
  say,
} from './receipt.ts'
import { recoverSigner } from './signature.ts'

/**
 * A promise of prices, as it is signed. Integers are decimal text: times in ms, `max_nusd` in
 * nano-USD. `account` is the zero address where any account may use it; `log_size` is what the log
 * had when it was signed, by which the signer is judged.
 */
export type Quote = {
  id: string
  issuer: string
  account: string
  model: string
  rates: QuotedRate[]
  price_list: string
  discount_bps: string
  max_input_tokens: string
  max_output_tokens: string
  max_nusd: string
  uses: string
  issued_at: string
  expires_at: string
  log_size: string
  nonce: string
}

/** The price of a unit of a meter, in pico-USD, in a run that reads so much or more. */
export type QuotedRate = {
  /** Empty for the ordinary one. */
  service_tier: string
  from_input_tokens: string
  meter: string
  price: string
}

/** The file form, version 1; the answer of `POST /v1/quotes` is one too. */
export type QuoteFile = {
  type: 'counterfoil.quote'
  version: '1'
  quote: Quote
  digest: string
  signature: string
}

export const anyAccount = `0x${'0'.repeat(40)}`

export const quoteDigest = (quote: Quote): Uint8Array => structDigest('Quote', quote)

/** Tells whether this is meant as a quote at all; {@link parseQuoteFile} tells what is wrong. */
export const isQuoteFile = (value: unknown): boolean =>
  isObject(value) && value['type'] === 'counterfoil.quote' && isObject(value['quote'])

/** Members beside the quote, of the answer of the API: they repeat what is signed. */
const repeated: Readonly<Record<string, (quote: Quote) => unknown>> = {
  id: ({ id }) => id,
  object: () => 'quote',
  model: ({ model }) => model,
  max_nusd: (quote) => Number(quote.max_nusd),
  uses: ({ uses }) => Number(uses),
  expires_at: (quote) => isoOf(quote.expires_at),
}

const fileMembers = new Set([
  ...['type', 'version', 'quote', 'digest', 'signature', 'uses_left'],
  ...Object.keys(repeated),
])

/** Reads a quote file strictly; undefined with the problems noted. Never throws. */
export function parseQuoteFile(value: unknown, problems: Problem[]): QuoteFile | undefined {
  if (!isObject(value)) return say(problems, 'quote', 'not an object')
  const { type, version } = value
  const before = problems.length
  if (type !== 'counterfoil.quote') say(problems, 'type', 'not "counterfoil.quote"')
  if (version !== '1') say(problems, 'version', 'not "1"')
  const quote = readStruct('Quote', value['quote'], 'quote', problems) as Quote
  const digest = readMember('string', value['digest'], 'digest', problems) as string
  const signature = readMember('string', value['signature'], 'signature', problems) as string
  refuseOthers(value, fileMembers, '', problems)
  if (problems.length > before) return undefined
  for (const [name, signed] of Object.entries(repeated)) {
    if (!Object.hasOwn(value, name) || value[name] === signed(quote)) continue
    say(problems, name, 'not as in the quote')
  }
  if (problems.length > before) return undefined
  return { type: 'counterfoil.quote', version: '1', quote, digest, signature }
}

/** Milliseconds as RFC 3339; empty beyond what a date can be. */
function isoOf(ms: string): string {
  const date = new Date(Number(ms))
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

/**
 * Checks that a receipt kept this quote, which it names: the quote is signed by a key that may, and
 * no line is dearer than it says.
 */
export const quoteCheck =
  (given: unknown): QuoteCheck =>
  (receipt, signers) =>
    checkKept(receipt, given, signers)

function checkKept(
  receipt: Receipt,
  given: unknown,
  signers: readonly TrustedSigner[] | undefined,
): Outcome {
  const problems: Problem[] = []
  const file = parseQuoteFile(given, problems)
  if (!file) {
    const what = problems.map(({ path, message }) => `${told(path)}: ${message}`).join('; ')
    return fail(`The quote could not be read: ${what}`)
  }
  const signed = checkSigned(file, signers)
  if (signed.status === 'fail') return signed
  if (isHidden(receipt.charge)) return unavailable('The charge is hidden.')
  const breach = breachOf({ ...receipt, charge: receipt.charge }, file.quote)
  if (breach !== undefined) return fail(breach)
  if (signed.status !== 'pass') return signed
  return pass(`No line is dearer than quote ${told(file.quote.id)} says.`)
}

/** Whether a trusted key signed exactly this quote. */
export function checkSigned(
  { quote, digest, signature }: QuoteFile,
  signers: readonly TrustedSigner[] | undefined,
): Outcome {
  const computed = quoteDigest(quote)
  if (digest !== toHex(computed)) {
    return fail(`The quote was changed: expected ${toHex(computed)}; found ${told(digest)}.`)
  }
  const recovered = recoverSigner(computed, signature)
  if (!recovered.ok) return fail(`The signature of the quote: ${recovered.reason}`)
  const outcome = checkSigner(recovered, signers, BigInt(quote.log_size))
  return outcome.status === 'pass' ? outcome : { ...outcome, reason: `Quote: ${outcome.reason}` }
}

type ChargedReceipt = Omit<Receipt, 'charge'> & { charge: Sections['charge'] }

/** How a receipt breaks a quote; undefined where it keeps it. Hidden sections break nothing. */
function breachOf(
  { issuer, subject, run, charge }: ChargedReceipt,
  quote: Quote,
): string | undefined {
  const name = `${quotePrefix}${toHex(quoteDigest(quote))}`
  if (charge.priceList !== name) {
    return `The receipt names the prices ${told(charge.priceList)}, not ${name}.`
  }
  if (issuer !== quote.issuer) return `The quote is of another issuer: ${told(quote.issuer)}.`
  const isForAny = quote.account === anyAccount
  if (!isForAny && !isHidden(subject) && !isSame(subject.account, quote.account)) {
    return `The quote is for another account: ${told(quote.account)}.`
  }
  if (!isHidden(run) && run.model !== quote.model) {
    return `The quote is for another model: ${told(quote.model)}.`
  }
  if (BigInt(charge.discountBps) < BigInt(quote.discount_bps)) {
    return `Expected a discount of ${quote.discount_bps} bps; found ${charge.discountBps}.`
  }
  if (BigInt(charge.amount) > BigInt(quote.max_nusd)) {
    return `Expected at most ${quote.max_nusd} nUSD; found ${charge.amount}.`
  }
  // Counted because the report contradicted itself: then a side has its dearest rate.
  const isCounted = isHidden(run) || run.usageSource === 'counted'
  return dearerLine(charge.lines, quote, isCounted)
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

type Line = Sections['charge']['lines'][number]

/** The line that no tier of the quote allows; undefined where one tier allows them all. */
function dearerLine(
  lines: readonly Line[],
  { rates }: Quote,
  isCounted: boolean,
): string | undefined {
  let read = 0n
  for (const { meter, quantity } of lines) if (inputMeters.has(meter)) read += BigInt(quantity)
  const used = lines.filter(({ quantity }) => quantity !== '0')
  let breach: string | undefined = used.length > 0 ? 'The quote has no rates.' : undefined
  for (const tier of new Set(rates.map(({ service_tier }) => service_tier))) {
    const step = stepOf(rates, tier, read)
    const dearer = used.find(({ meter, price }) => BigInt(price) > mostFor(step, meter, isCounted))
    if (!dearer) return undefined
    const { meter, price } = dearer
    const most = mostFor(step, meter, isCounted)
    breach =
      most < 0n
        ? `The quote has no rate for ${told(meter)}.`
        : `Expected at most ${most} pUSD a unit of ${told(meter)}; found ${price}.`
  }
  return breach
}

/** The rates of a tier in a run that reads so much, by meter. */
function stepOf(
  rates: readonly QuotedRate[],
  tier: string,
  read: bigint,
): ReadonlyMap<string, bigint> {
  const own = rates.filter(({ service_tier }) => service_tier === tier)
  let from = -1n
  for (const { from_input_tokens } of own) {
    const start = BigInt(from_input_tokens)
    if (start <= read && start > from) from = start
  }
  const reached = own.filter(({ from_input_tokens }) => BigInt(from_input_tokens) === from)
  return new Map(reached.map(({ meter, price }) => [meter, BigInt(price)]))
}

/**
 * The most a unit of a meter may cost; below 0 where the quote has no rate for it. A class of input
 * without a rate falls back to the dearest of them, one of output is part of `output`.
 */
function mostFor(step: ReadonlyMap<string, bigint>, meter: string, isCounted: boolean): bigint {
  const own = step.get(meter)
  const isInput = inputMeters.has(meter)
  if (isInput && (own === undefined || (isCounted && meter === 'input'))) {
    return dearestOf(step, inputMeters)
  }
  if (isCounted && meter === 'output') return dearestOf(step, outputMeters)
  return own ?? -1n
}

function dearestOf(step: ReadonlyMap<string, bigint>, side: ReadonlySet<string>): bigint {
  let dearest = -1n
  for (const [meter, price] of step) if (side.has(meter) && price > dearest) dearest = price
  return dearest
}
