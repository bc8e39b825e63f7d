/** An amount of money. */
import { type Nusd, toUsd } from '../../kernel/money.ts'

type AmountProps = {
  nusd: Nusd
  /**
   * `list`: cents from ten cents on, two significant digits below, four digits under a cent at
   * most. `sum`: cents. Without it every digit that counts, as on slips and proofs.
   */
  as?: 'list' | 'sum'
  /** A limit is rounded down, a debt up, anything else to the nearer side. */
  round?: Rounding
  /** Decimals at least, of an amount with every digit. */
  places?: number
}

type Rounding = 'near' | 'down' | 'up'

/** An amount of money: dollars and cents to be read, the digits below a cent small and quiet. */
export function Amount({ nusd, as, round = 'near', places = 2 }: AmountProps) {
  const whole = toUsd(nusd)
  const shown = as === undefined ? nusd : rounded(nusd, as === 'sum' ? cent : unitOf(nusd), round)
  const digits = Math.max(places, as === 'list' ? digitsOf(unitOf(nusd)) : 2)
  const [dollars = '0', fraction = ''] = toUsd(shown < 0n ? -shown : shown).split('.')
  const below = fraction.padEnd(digits, '0')
  const small = below.slice(2)
  return (
    <data class="amount" value={whole} title={shown === nusd ? undefined : amountText(nusd)}>
      {nusd < 0n ? '−' : ''}${grouped(dollars)}.{below.slice(0, 2)}
      {small ? <small>{small}</small> : null}
    </data>
  )
}

const cent = 10_000_000n
/** The last of four digits under a cent. */
const least = 1_000n

/** The value of the last digit of an amount in a list. */
function unitOf(nusd: Nusd): bigint {
  const size = nusd < 0n ? -nusd : nusd
  if (size === 0n || size >= 10n * cent) return cent
  const unit = 10n ** BigInt(Math.max(0, String(size).length - 2))
  return unit < least ? least : unit
}

/** Decimals of a dollar. */
const digitsOf = (unit: bigint): number => 10 - String(unit).length

/** A cost that is not zero never looks like nothing. */
function rounded(nusd: Nusd, unit: bigint, how: Rounding): Nusd {
  const size = nusd < 0n ? -nusd : nusd
  const more = how === 'down' ? 0n : how === 'up' ? unit - 1n : unit / 2n
  const near = ((size + more) / unit) * unit
  const kept = near === 0n && size > 0n && how !== 'down' && unit === least ? least : near
  return nusd < 0n ? -kept : kept
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
