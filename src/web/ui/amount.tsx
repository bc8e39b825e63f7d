/** An amount of money. */
import { type Nusd, toUsd } from '../../kernel/money.ts'

/**
 * An amount of money: dollars and cents to be read, the digits below a cent small and quiet.
 * `places` decimals at least, so that the points of a column stand under each other.
 */
export function Amount({ nusd, places = 2 }: { nusd: Nusd; places?: number }) {
  const [whole = '0', fraction = ''] = toUsd(nusd < 0n ? -nusd : nusd).split('.')
  const digits = fraction.padEnd(places, '0')
  const small = digits.slice(2)
  return (
    <data class="amount" value={toUsd(nusd)}>
      {nusd < 0n ? '−' : ''}${grouped(whole)}.{digits.slice(0, 2)}
      {small ? <small>{small}</small> : null}
    </data>
  )
}

/** The same in running text and titles: `$1,234.50`. */
export function amountText(nusd: Nusd): string {
  const [whole = '0', fraction = ''] = toUsd(nusd < 0n ? -nusd : nusd).split('.')
  return `${nusd < 0n ? '−' : ''}$${grouped(whole)}.${fraction}`
}

/**
 * The same for people in a hurry: cents from ten cents on, two significant digits below. Rounded
 * down, so that a limit never looks used up before it is.
 */
export function shortAmountText(nusd: Nusd): string {
  const size = nusd < 0n ? -nusd : nusd
  const unit = 10n ** BigInt(Math.min(7, Math.max(0, String(size).length - 2)))
  return amountText(nusd - (nusd % unit))
}

const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+$)/g, ',')
