/** The headers that every answer has unless its route overrides them. */
export const standing: { readonly [name: string]: string } = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}
