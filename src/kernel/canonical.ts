import canonicalize from 'canonicalize'

/** A JSON value as parsed. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json }

/** Whether {@link canonical} takes a value: finite numbers, whole characters, and not too deep. */
export function hasCanonicalForm(value: Json, levels = 100): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  if (Array.isArray(value)) {
    return value.every((item) =>
      // Most lists are vectors of a thousand numbers and more.
      typeof item === 'number' ? Number.isFinite(item) : hasCanonicalForm(item, levels - 1),
    )
  }
  return Object.entries(value).every(
    ([name, member]) => name.isWellFormed() && hasCanonicalForm(member, levels - 1),
  )
}

/**
 * The one serialisation of a JSON value that everybody agrees on (RFC 8785, JCS).
 * @throws on NaN, infinities and lone surrogates, which have none.
 */
export function canonical(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
}
