import canonicalize from 'canonicalize'

/** A JSON value as parsed. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json }

/**
 * The one serialisation of a JSON value that everybody agrees on (RFC 8785, JCS).
 * @throws on NaN, infinities and lone surrogates, which have none.
 */
export function canonical(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
}
