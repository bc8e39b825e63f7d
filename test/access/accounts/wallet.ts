import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { testPrivateKey, type World } from '../../support/world.ts'

/** The wallet of the first well-known test account. */
export const wallet = privateKeyToAccount(`0x${testPrivateKey}`)

/** Cookies as a browser keeps them, by name. */
export type Jar = Map<string, string>

export function keepCookies(jar: Jar, answer: Response): void {
  for (const line of answer.headers.getSetCookie()) {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split('=')
    if (attributes.includes('Max-Age=0')) jar.delete(name)
    else jar.set(name, value)
  }
}

export const cookieHeader = (jar: Jar): Record<string, string> =>
  jar.size === 0 ? {} : { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }

type Init = {
  json?: unknown
  headers?: Record<string, string>
  method?: string
  body?: string
}

/** A browser without pages: it calls, and keeps what it is given. */
export function browser(service: Pick<World, 'call'>, jar: Jar = new Map()) {
  return {
    jar,
    async call(path: string, init: Init = {}): Promise<Response> {
      const headers = { ...cookieHeader(jar), ...init.headers }
      const answer = await service.call(path, { ...init, headers, redirect: 'manual' })
      keepCookies(jar, answer)
      return answer
    },
  }
}

export type Browser = ReturnType<typeof browser>

export type Nonce = { nonce: string; message: string; expires_at: string }

export async function askNonce(own: Browser, address: string = wallet.address): Promise<Nonce> {
  const answer = await own.call('/api/auth/nonce', { json: { address } })
  return (await answer.json()) as Nonce
}

/** Signs a browser in with a wallet, and answers what the server said. */
export async function signInWith(own: Browser, signer: LocalAccount = wallet): Promise<Response> {
  const { message } = await askNonce(own, signer.address)
  const signature = await signer.signMessage({ message })
  return own.call('/api/auth/verify', { json: { message, signature } })
}

/** The well-formed text of a nonce, with parts of it changed: fields by name, or lines added. */
export function siweText(
  nonce: string,
  origin: string,
  change: Partial<SiweParts> = {},
  now = Date.now(),
): string {
  const parts: SiweParts = {
    opening: `${new URL(origin).host} wants you to sign in with your Ethereum account:`,
    address: wallet.address,
    statement: '\nI sign in.\n',
    uri: `URI: ${origin}`,
    version: 'Version: 1',
    chainId: 'Chain ID: 4663',
    nonce: `Nonce: ${nonce}`,
    issuedAt: `Issued At: ${new Date(now).toISOString()}`,
    more: undefined,
    ...change,
  }
  return Object.values(parts)
    .filter((line) => line !== undefined)
    .join('\n')
}

type SiweParts = {
  opening: string
  address: string
  statement: string
  uri: string
  version: string
  chainId: string
  nonce: string
  issuedAt: string
  more: string | undefined
}
