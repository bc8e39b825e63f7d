/** The lines of a receipt as a paper slip shows them. */
import { isCall, meterWords } from './meter-words.ts'
import type { HiddenSection, Receipt } from './receipt.ts'

/** One line of a slip of paper; a value of undefined is one that the owner hides. */
export type SlipLine = readonly [name: string, value: string | undefined]

/** Replaces a hidden value. */
export const hiddenWords = 'hidden by the owner'

/** A receipt line by line, for every page and the offline file. */
export function slipLines(
  { subject, passport, run, charge, content }: Receipt,
  by: { signer: string | null; digest: string | null },
): SlipLine[] {
  const lines: SlipLine[] = []
  if (isHidden(run)) lines.push(['Run', undefined])
  else {
    lines.push(['Model', run.model], ['Run', `${run.kind}, ${seconds(run.durationMs)}`])
    lines.push(['Route', run.route], ['Outcome', run.outcome])
  }
  if (isHidden(charge)) lines.push(['Charge', undefined])
  else {
    for (const line of charge.lines) lines.push([meterWords(line.meter), lineOf(line)])
    if (charge.discountBps !== '0') {
      lines.push(['Discount', `${Number(charge.discountBps) / 100}%`])
    }
  }
  if (isHidden(subject)) lines.push(['Paid by', undefined])
  else lines.push(['Paid by', subject.account], ['Key', subject.key])
  if (isHidden(passport)) lines.push(['Passport', undefined])
  else if (passport.handle !== '') lines.push(['Passport', `@${passport.handle}`])
  if (isHidden(content)) lines.push(['Commitments', undefined])
  else {
    lines.push(['Input hash', shortHash(content.input)])
    lines.push(['Output hash', shortHash(content.output)])
  }
  lines.push(['Signed by', by.signer ?? 'unknown'])
  if (by.digest) lines.push(['Digest', by.digest])
  return lines
}

/** The total: `$0.09` and the digits below a cent; undefined where the charge is hidden. */
export const totalOf = ({ charge }: Receipt): [whole: string, small: string] | undefined =>
  isHidden(charge) ? undefined : usdOf(charge.amount)

function usdOf(nusd: string): [whole: string, small: string] {
  const digits = nusd.padStart(10, '0')
  const fraction = digits.slice(-9)
  return [
    `$${grouped(digits.slice(0, -9))}.${fraction.slice(0, 2)}`,
    fraction.slice(2).replace(/0+$/, ''),
  ]
}

/** The quantity, the unit price and their product before a discount. */
export function lineOf({ meter, quantity, price }: Line): string {
  const amount = BigInt(quantity) * BigInt(price)
  // The line breaks before the sign, if at all.
  return `${grouped(quantity)} at ${priceOf(meter, price)} =\u00a0${usdAt(String(amount), -12)}`
}

/** A line of a receipt, or of a run: `price` is pico-USD a unit. */
type Line = { meter: string; quantity: string; price: string }

/** Prices of tokens are told a million. */
function priceOf(meter: string, pusd: string): string {
  const isSmall = !isCall(meter) && BigInt(pusd) < 1_000_000_000n
  return `${usdAt(pusd, isSmall ? -6 : -12)} ${isSmall ? 'per 1M' : 'each'}`
}

/** Nano-USD as dollars: `$0.50`. */
export const dollars = (nusd: string): string => usdAt(nusd, -9)

/** USD whose decimals begin at `point`, counted from the end of the digits. */
function usdAt(amount: string, point: number): string {
  const digits = amount.padStart(13, '0')
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(2, '0')
  const whole = digits.slice(0, point).replace(/^0+(?=\d)/, '')
  return `$${grouped(whole)}.${fraction}`
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

const shortHash = (hash: string): string =>
  /^0x0+$/.test(hash) ? 'none' : `${hash.slice(0, 10)}…${hash.slice(-8)}`

const seconds = (ms: string): string => `${(Number(ms) / 1000).toFixed(2)} s`

/** As `receipt.ts` has it, without the hashes that a page would load with that. */
const isHidden = <T extends object>(section: T | HiddenSection): section is HiddenSection =>
  '$hash' in section
