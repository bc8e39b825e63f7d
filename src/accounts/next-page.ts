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

/** The sign-in page that leads on to `next`. */
export const signInPath = (next?: string): string =>
  next && isLocalPath(next) ? `/signin?next=${encodeURIComponent(next)}` : '/signin'
