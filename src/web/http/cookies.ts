/** The cookies of this service: the session's, and that of a browser that is signing in. */
export type CookieName = 'sid' | 'signin'

/**
 * The value of a cookie, or undefined. One that is sent twice counts as none: on http any port of
 * the host may have added the other.
 */
export function readCookie(
  headers: Headers,
  name: CookieName,
  baseUrl: string,
): string | undefined {
  const wanted = cookieName(name, baseUrl)
  const values = (headers.get('cookie') ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at !== -1 && pair.slice(0, at).trim() === wanted ? [pair.slice(at + 1).trim()] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/** A Set-Cookie that only this host, and no script, gets to see. `value` needs no escaping. */
export function writeCookie(
  name: CookieName,
  value: string,
  { baseUrl, maxAgeS }: { baseUrl: string; maxAgeS: number },
): string {
  return `${cookieName(name, baseUrl)}=${value}; Max-Age=${maxAgeS}; ${attributesOn(baseUrl)}`
}

/** Deletes a cookie. With all its attributes: without Secure a `__Host-` one would stay. */
export function deleteCookie(name: CookieName, baseUrl: string): string {
  const past = 'Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT'
  return `${cookieName(name, baseUrl)}=; ${past}; ${attributesOn(baseUrl)}`
}

const isHttps = (baseUrl: string): boolean => baseUrl.startsWith('https:')

/** `__Host-` keeps other hosts of the domain from setting it; browsers want Secure with it. */
export const cookieName = (name: CookieName, baseUrl: string): string =>
  isHttps(baseUrl) ? `__Host-${name}` : name

const attributesOn = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Lax${isHttps(baseUrl) ? '; Secure' : ''}`
