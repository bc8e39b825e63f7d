/** The cookies of a session, of a browser that signs in, and of one that opened a set-up link. */
export type CookieName = 'sid' | 'signin' | 'setup'

/** Cookies from an action to the page that follows it: a new secret, or the words of a toast. */
export type BriefName = 'secret' | 'done'

/**
 * The value of a cookie, or undefined. One that is sent twice counts as none: on http any port of
 * the host may have added the other.
 */
export function readCookie(
  headers: Headers,
  name: CookieName | BriefName,
  baseUrl: string,
): string | undefined {
  const isBrief = name === 'secret' || name === 'done'
  const wanted = isBrief ? briefName(name) : cookieName(name, baseUrl)
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
  return `${cookieName(name, baseUrl)}=; ${past}; ${attributesOn(baseUrl)}`
}

const past = 'Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT'

type CookieScope = { baseUrl: string; path: string }

/** A Set-Cookie for `path` alone, which no other site can make a browser send. */
export const writeBrief = (
  name: BriefName,
  value: string,
  { baseUrl, path, maxAgeS }: CookieScope & { maxAgeS: number },
): string => `${briefName(name)}=${value}; Max-Age=${maxAgeS}; ${briefAttributes(baseUrl, path)}`

/** Deletes such a cookie. */
export const deleteBrief = (name: BriefName, { baseUrl, path }: CookieScope): string =>
  `${briefName(name)}=; ${past}; ${briefAttributes(baseUrl, path)}`

/** Without a prefix: `__Host-` allows no path, and what it holds is sealed or from a fixed list. */
const briefName = (name: BriefName): string => `counterfoil-${name}`

const briefAttributes = (baseUrl: string, path: string): string =>
  `Path=${path}; HttpOnly; SameSite=Strict${isHttps(baseUrl) ? '; Secure' : ''}`

/** Adds a Set-Cookie to those that an answer has already. */
export function addCookie(headers: Record<string, unknown>, cookie: string): void {
  const known = headers['set-cookie']
  headers['set-cookie'] = known === undefined ? cookie : [known, cookie].flat()
}

const isHttps = (baseUrl: string): boolean => baseUrl.startsWith('https:')

/** `__Host-` keeps other hosts of the domain from setting it; browsers want Secure with it. */
export const cookieName = (name: CookieName, baseUrl: string): string =>
  isHttps(baseUrl) ? `__Host-${name}` : name

const attributesOn = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Lax${isHttps(baseUrl) ? '; Secure' : ''}`
