/** Where somebody goes who signed in without having been on the way to a page. */
export const homePage = '/dashboard'

const maxLength = 2048

/**
 * Whether a text is a path of this server and nothing else, so that a link to the sign-in cannot
 * send people elsewhere. Browsers take `\` for `/`, and drop tabs and line breaks: none may be in.
 */
export function isLocalPath(text: string): boolean {
  if (text.length > maxLength || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return false
  return !text.includes('\\') && URL.parse(text, 'http://a.invalid')?.host === 'a.invalid'
}

/** Where to go after the sign-in. */
export const nextPage = (wanted: string | null | undefined): string =>
  wanted && isLocalPath(wanted) ? wanted : homePage

/** The sign-in page that leads on to `next`; with a nonce, the one that shows its text. */
export function signInPath(next?: string, nonce?: string): string {
  const query = new URLSearchParams()
  if (nonce !== undefined) query.set('nonce', nonce)
  if (next && isLocalPath(next)) query.set('next', next)
  return query.size === 0 ? '/signin' : `/signin?${query}`
}
