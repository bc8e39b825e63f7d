/** Gives answers the headers that all of them have. */
import type { Context } from 'elysia'

/** The headers that every answer has unless its route overrides them. */
export const standing: { readonly [name: string]: string } = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/** The headers of an answer in HTML, which replace those above. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  // Wallets open windows that must find their opener.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'HX-Request, HX-Request-Type, Accept-Encoding',
}

/** Every answer's headers. A public route or a page overrides what it must and keeps the rest. */
export const baseHeaders = (requestId: string): Record<string, string> => ({
  'x-request-id': requestId,
  ...standing,
})

/**
 * An answer 200 with headers that many answers share, and those that were set, which replace shared
 * ones of their names. Bun copies `shared` as a whole, which costs less than one by one.
 */
export function answerShared(
  set: Pick<Context['set'], 'headers'>,
  body: BodyInit | null,
  shared: Headers,
): Response {
  const answer = new Response(body, { headers: shared })
  const { headers } = answer
  for (const name in set.headers) {
    const value = set.headers[name]
    if (value !== standing[name] && value !== undefined) headers.set(name, String(value))
  }
  // Elysia copies a Response that it has to merge any into.
  set.headers = {}
  return answer
}
