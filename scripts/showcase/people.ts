/** The people of the showcase: three wallets, what they own, and how they call the service. */
import type { LocalAccount } from 'viem/accounts'
import { browser, signInWith } from '../../test/accounts/wallet.ts'
import { testWallet } from './chain.ts'

export type OwnKey = { id: string; name: string; secret: string }

export type Person = {
  name: string
  wallet: LocalAccount
  keys: OwnKey[]
  /** Calls a route of the dashboard, signed in. @throws Error with the answer to a refused call. */
  portal(
    path: string,
    json?: object,
    method?: string,
  ): Promise<{ id: string; secret: string; link: string }>
  /** Signs in and gives the cookies of the new session. */
  signIn(agent?: string): Promise<string[]>
}

export const names = ['Ada', 'Ben', 'Cleo'] as const

/** People of a service at an address. The first one is its operator. */
export const peopleOf = (origin: string): [Person, Person, Person] => [
  personOf(origin, 'Ada', 3),
  personOf(origin, 'Ben', 4),
  personOf(origin, 'Cleo', 5),
]

export type Asked = RequestInit & { key?: string; json?: unknown }

/** Calls a service as a program does. */
export function callAt(origin: string, path: string, { key, json, ...init }: Asked = {}) {
  const headers = new Headers(init.headers)
  if (key) headers.set('authorization', `Bearer ${key}`)
  if (json === undefined) return fetch(origin + path, { ...init, headers })
  headers.set('content-type', 'application/json')
  return fetch(origin + path, { method: 'POST', ...init, headers, body: JSON.stringify(json) })
}

function personOf(origin: string, name: string, index: number): Person {
  const wallet = testWallet(index)
  const arrive = async (agent: string) => {
    const call = (path: string, init: Asked = {}) => {
      const headers = { ...(init.headers as Record<string, string>), 'user-agent': agent }
      return callAt(origin, path, { ...init, headers })
    }
    const own = browser({ call })
    const answer = await signInWith(own, wallet)
    if (!answer.ok) throw new Error(`${name} cannot sign in: ${await answer.text()}`)
    return own
  }
  let session: ReturnType<typeof browser> | undefined
  return {
    name,
    wallet,
    keys: [],
    async portal(path, json, method = json ? 'POST' : 'GET') {
      session ??= await arrive(browsers[0])
      let answer = await session.call(`/api/portal${path}`, { method, json })
      if (answer.status === 401) {
        session = await arrive(browsers[index % browsers.length] ?? browsers[0])
        answer = await session.call(`/api/portal${path}`, { method, json })
      }
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${name}: ${path} ${answer.status} ${text}`)
      return JSON.parse(text)
    },
    async signIn(agent = browsers[0]) {
      return [...(await arrive(agent)).jar].map(([cookie, value]) => `${cookie}=${value}`)
    },
  }
}

const webKit = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0'
const browsers = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0',
  `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Safari/605.1.15`,
  `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${webKit} Mobile/15E148 Safari/604.1`,
] as const
