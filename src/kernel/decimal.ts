/** Decimal numbers, exactly as they are written. */

/** `digits` × 10^-`scale`, of any sign. */
export type Decimal = { digits: bigint; scale: number }

/** Longest exponent that is read: prices need few, and a huge one would fill the memory. */
const exponentMost = 60

/** Reads `0.000003`, `3e-06`, `-1`; undefined for anything else. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text)
  if (!match) return undefined
  const [, sign, whole = '0', fraction = '', exponent = '0'] = match
  if (Math.abs(Number(exponent)) > exponentMost) return undefined
  const digits = BigInt(`${sign}${whole}${fraction}`)
  return { digits, scale: fraction.length - Number(exponent) }
}

export const isZero = ({ digits }: Decimal): boolean => digits === 0n

export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const [left, right] = [a, b].map((one) => one.digits * 10n ** BigInt(scale - one.scale))
  const [x = 0n, y = 0n] = [left, right]
  return x < y ? -1 : x > y ? 1 : 0
}

export const addDecimals = (a: Decimal, b: Decimal): Decimal => {
  const scale = Math.max(a.scale, b.scale)
  const at = (one: Decimal) => one.digits * 10n ** BigInt(scale - one.scale)
  return { digits: at(a) + at(b), scale }
}

export const multiplyDecimals = (a: Decimal, b: Decimal): Decimal => ({
  digits: a.digits * b.digits,
  scale: a.scale + b.scale,
})

/** A decimal that is not negative times 10^`places`, rounded up; and whether that was needed. */
export function roundUp(
  { digits, scale }: Decimal,
  places: number,
): { value: bigint; isRounded: boolean } {
  const rest = scale - places
  if (rest <= 0) return { value: digits * 10n ** BigInt(-rest), isRounded: false }
  const unit = 10n ** BigInt(rest)
  return { value: (digits + unit - 1n) / unit, isRounded: digits % unit !== 0n }
}
