/** The people of a demonstration: three wallets, what they own, and how they call the service. */
import type { LocalAccount } from 'viem/accounts'

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

export type People = [Person, Person, Person]

export type DemoRequest = RequestInit & { key?: string; json?: unknown }

/** Calls a service as a program does, over a socket or inside of its process. */
export type Call = (path: string, asked?: DemoRequest) => Promise<Response>

/** Ada, Ben and Cleo with their wallets; a showcase makes the first one its operator. */
export const peopleOf = (call: Call, wallets: readonly LocalAccount[]): People => [
  personOf(call, 'Ada', wallets[0] as LocalAccount, browsers[0]),
  personOf(call, 'Ben', wallets[1] as LocalAccount, browsers[1]),
  personOf(call, 'Cleo', wallets[2] as LocalAccount, browsers[2]),
]

/** The request of a call to a service at an origin. */
export function requestOf(origin: string, path: string, { key, json, ...init }: DemoRequest = {}) {
  const headers = new Headers(init.headers)
  headers.set('host', new URL(origin).host)
  if (key) headers.set('authorization', `Bearer ${key}`)
  if (json === undefined) return new Request(origin + path, { ...init, headers })
  headers.set('content-type', 'application/json')
  const body = JSON.stringify(json)
  return new Request(origin + path, { method: 'POST', ...init, headers, body })
}

function personOf(call: Call, name: string, wallet: LocalAccount, other: string): Person {
  const arrive = async (agent: string): Promise<string[]> => {
    const headers = { 'user-agent': agent }
    const asked = await call('/api/auth/nonce', { headers, json: { address: wallet.address } })
    const { message } = (await asked.json()) as { message: string }
    const signature = await wallet.signMessage({ message })
    const cookie = cookiesOf(asked).join('; ')
    const json = { message, signature }
    const answer = await call('/api/auth/verify', { headers: { ...headers, cookie }, json })
    if (!answer.ok) throw new Error(`${name} cannot sign in: ${await answer.text()}`)
    return cookiesOf(answer)
  }
  let agent: string = browsers[0]
  let cookies: string[] | undefined
  return {
    name,
    wallet,
    keys: [],
    async portal(path, json, method = json ? 'POST' : 'GET') {
      const ask = async () => {
        cookies ??= await arrive(agent)
        const headers = { 'user-agent': agent, cookie: cookies.join('; ') }
        return call(`/api/portal${path}`, { method, headers, json })
      }
      let answer = await ask()
      if (answer.status === 401) {
        cookies = undefined
        agent = other
        answer = await ask()
      }
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${name}: ${path} ${answer.status} ${text}`)
      return JSON.parse(text)
    },
    signIn: (agent = browsers[0]) => arrive(agent),
  }
}

/** The cookies that an answer leaves, not those that it deletes. */
const cookiesOf = (answer: Response): string[] =>
  answer.headers
    .getSetCookie()
    .filter((line) => !line.includes('Max-Age=0'))
    .map((line) => line.split(';', 1)[0] ?? '')

const webKit = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0'
const browsers = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0',
  `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Safari/605.1.15`,
  `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${webKit} Mobile/15E148 Safari/604.1`,
] as const
