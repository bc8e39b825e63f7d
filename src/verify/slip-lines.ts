/** The lines of a receipt as a paper slip shows them. */
import type { Hidden, Receipt } from './receipt.ts'

/** One line of a slip of paper; a value of undefined is one that the owner hides. */
export type SlipLine = readonly [name: string, value: string | undefined]

/** What stands instead of a value that is not shown. */
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
    for (const { meter, quantity, price } of charge.lines) {
      lines.push([titled(meter), `${grouped(quantity)} at ${priceOf(price)}`])
    }
    if (charge.discountBps !== '0') {
      lines.push(['Discount', `${Number(charge.discountBps) / 100} %`])
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

/** Pico-USD a unit; those of tokens are told a million. */
function priceOf(pusd: string): string {
  const isSmall = BigInt(pusd) < 1_000_000_000n
  const digits = pusd.padStart(13, '0')
  const point = isSmall ? -6 : -12
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(2, '0')
  const whole = digits.slice(0, point).replace(/^0+(?=\d)/, '')
  return `$${grouped(whole)}.${fraction} ${isSmall ? 'per 1M' : 'each'}`
}

const titled = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

const shortHash = (hash: string): string =>
  /^0x0+$/.test(hash) ? 'none' : `${hash.slice(0, 10)}…${hash.slice(-8)}`

const seconds = (ms: string): string => `${(Number(ms) / 1000).toFixed(2)} s`

/** As `receipt.ts` has it, without the hashes that a page would load with that. */
const isHidden = <T extends object>(section: T | Hidden): section is Hidden => '$hash' in section
