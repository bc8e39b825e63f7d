/** Amounts of money as integers, and their text. */

/** An amount in nano-USD: 1 USD is 1_000_000_000n. */
export type Nusd = bigint

/** A price in pico-USD per unit; numerically micro-USD per million units. */
export type Pusd = bigint

/** Every balance, cap, price and quantity stays within 0…9e15, so JSON numbers keep it exact. */
export const maxNusd: Nusd = 9_000_000_000_000_000n

export const nusdPerUsd = 1_000_000_000n

/** An amount as a JSON integer. @throws when it is outside ±9e15: a bound was broken before. */
export function toJsonInteger(amount: bigint): number {
  if (amount > maxNusd || amount < -maxNusd) throw new Error('an amount left the JSON-safe range')
  return Number(amount)
}

/** Prints an amount as decimal USD without trailing zeros but at least two decimals: `5.00`. */
export function toUsd(amount: Nusd): string {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0{1,7}$/, '')
  return `${sign}${digits.slice(0, -9)}.${fraction}`
}

/** Parses decimal USD with up to nine decimals, e.g. `12.5`; undefined for anything else. */
export function parseUsd(text: string): Nusd | undefined {
  const match = /^(\d{1,7})(?:\.(\d{1,9}))?$/.exec(text)
  if (!match) return undefined
  const amount = BigInt(match[1] ?? '0') * nusdPerUsd + BigInt((match[2] ?? '').padEnd(9, '0'))
  return amount <= maxNusd ? amount : undefined
}

/**
 * Parses a price in USD a million units, `0.15/M`, exactly: up to six decimals make a whole number
 * of pico-USD a unit. Undefined for anything else.
 */
export function parsePrice(text: string): Pusd | undefined {
  const match = /^(\d{1,10})(?:\.(\d{1,6})0*)? ?\/ ?M$/.exec(text)
  if (!match) return undefined
  const price = BigInt(match[1] ?? '0') * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'))
  return price <= maxNusd ? price : undefined
}

/** Parses a price as people type it: `0.15`, `$0.15` or `$0.15 / M`, all of a million units. */
export const parseTypedPrice = (text: string): Pusd | undefined =>
  parsePrice(text.replace(/^\$/, '').replace(/(?<!\/ ?M)$/, '/M'))

/** Prints a price as {@link parsePrice} reads it, with at least two decimals: `0.15/M`. */
export const toPrice = (price: Pusd): string => `${toUsd(price * 1000n)}/M`

export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
