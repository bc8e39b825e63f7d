/** The page after the sign-in: always a path of this server. */

export const homePage = '/dashboard'

/** The path of the sign-in without a wallet, in a demonstration. */
export const visitorPath = '/signin/visitor'

const maxLength = 2048

/**
 * Whether a text is a path of this server, so that a link to the sign-in cannot lead elsewhere.
 * Browsers read `\` as `/` and drop tabs and line breaks, so none of these may occur.
 */
export function isLocalPath(text: string): boolean {
  if (text.length > maxLength || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return false
  return !text.includes('\\') && URL.parse(text, 'http://a.invalid')?.host === 'a.invalid'
}

export const nextPage = (wanted: string | null | undefined): string =>
  wanted && isLocalPath(wanted) ? wanted : homePage

/** The sign-in page that continues to `next`; with a nonce, its second step. */
export function signInPath(next?: string, nonce?: string): string {
  const query = new URLSearchParams()
  if (nonce !== undefined) query.set('nonce', nonce)
  if (next && isLocalPath(next)) query.set('next', next)
  return query.size === 0 ? '/signin' : `/signin?${query}`
}
