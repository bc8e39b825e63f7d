import { Agent, type ClientRequest, request } from 'node:http'
import { grant, type Home, makeKey, randomAccount, type Server } from '../test/support/binary.ts'
import { flatCost } from '../test/support/paced-upstream.ts'

/** Requests at once, and how many of them the money is enough for. */
export const size = 1000
export const affordable = 50

/** Decimal USD of nano-USD. */
const usd = (nusd: number): string => (nusd / 1e9).toFixed(9)

type Crowd = {
  name: string
  account: string
  balance: number
  /** Cap of the key that all others are below. */
  cap: number
  children: number
  /** Which purse says no. */
  refusal: 'insufficient_balance' | 'cap_exceeded'
}

const enough = affordable * flatCost
const plenty = 1_000_000 * flatCost

const crowds: Omit<Crowd, 'account'>[] = [
  {
    name: 'one key, the balance binds',
    balance: enough,
    cap: plenty,
    children: 0,
    refusal: 'insufficient_balance',
  },
  {
    name: '20 children of one parent, the balance binds',
    balance: enough,
    cap: plenty,
    children: 20,
    refusal: 'insufficient_balance',
  },
  {
    name: '20 children, the cap of their parent binds',
    balance: plenty,
    cap: enough,
    children: 20,
    refusal: 'cap_exceeded',
  },
]

export type CrowdResult = { name: string; paid: number; refused: number; faults: string[] }

/** 1,000 runs at once where exactly 50 can be paid, in three families of keys. */
export async function drillCrowds(home: Home, server: Server): Promise<CrowdResult[]> {
  const results: CrowdResult[] = []
  for (const crowd of crowds) {
    results.push(await drillCrowd(home, server, { ...crowd, account: randomAccount() }))
  }
  return results
}

async function drillCrowd(home: Home, server: Server, crowd: Crowd): Promise<CrowdResult> {
  const { account } = crowd
  await grant(home, usd(crowd.balance), account)
  const parent = await makeKey(home, { account, cap: usd(crowd.cap) })
  const children: string[] = []
  for (let i = 0; i < crowd.children; i++) {
    const child = { account, cap: usd(Math.min(crowd.cap, plenty)) }
    children.push((await makeKey(home, child, '--parent', parent.id)).secret)
  }
  const keys = children.length > 0 ? children : [parent.secret]
  const faults: string[] = []
  const reader = watch(server, [parent.secret, keys[0] ?? ''], faults)
  const answers = await askAll([server], keys)
  await reader.stop()

  const paid = answers.filter(({ status }) => status === 200).length
  const refused = answers.filter(({ type }) => type === crowd.refusal).length
  if (paid !== affordable) faults.push(`${paid} of ${affordable} affordable runs were made`)
  if (paid + refused !== size) faults.push(`${size - paid - refused} answers were something else`)
  const end = await figures(server, parent.secret)
  if (end.held !== 0) faults.push(`${end.held} nUSD are held at the end`)
  if (end.balance !== crowd.balance - enough) faults.push(`${end.balance} nUSD are left`)
  if (end.spent !== enough) faults.push(`the parent spent ${end.spent} nUSD`)
  return { name: crowd.name, paid, refused, faults }
}

/** Reads money all the time: no figure may ever be below zero or above the cap. */
function watch(server: Server, keys: string[], faults: string[]) {
  let isOver = false
  const reading = (async () => {
    while (!isOver) {
      for (const key of keys) {
        const { spent, held, limit, available } = await figures(server, key)
        if (available < 0) faults.push(`a reader saw ${available} nUSD available`)
        if (spent + held > limit) faults.push(`a reader saw ${spent} + ${held} above ${limit}`)
      }
    }
  })()
  return {
    stop: () => {
      isOver = true
      return reading
    },
  }
}

async function figures(server: Server, key: string) {
  const { cap, account } = await server.get('/v1/keys/self', key)
  return {
    spent: cap.spent_nusd,
    limit: cap.limit_nusd,
    held: account.held_nusd,
    balance: account.balance_nusd,
    available: Math.min(account.available_nusd, cap.remaining_nusd),
  }
}

type Answered = { status: number; type: string | undefined }

/**
 * All at once, each server and each key in turn. By `node:http` without a limit of sockets:
 * `fetch` would send 256 at a time.
 */
export async function askAll(servers: Server[], keys: string[]): Promise<Answered[]> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const ask = (i: number) => {
    const server = servers[i % servers.length]
    if (!server) throw new Error('there is no server to ask')
    return askFlat(server, keys[i % keys.length] ?? '', agent)
  }
  try {
    return await Promise.all(Array.from({ length: size }, (_, i) => ask(i)))
  } finally {
    agent.destroy()
  }
}

/** A chat that is asked for by `node:http`, without its body. */
export const startChat = ({ port }: Server, key: string, agent: Agent): ClientRequest =>
  request({
    agent,
    host: '127.0.0.1',
    port,
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })

function askFlat(server: Server, key: string, agent: Agent): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const sent = startChat(server, key, agent)
  sent.on('error', reject)
  sent.on('response', async (answer) => {
    let text = ''
    for await (const piece of answer) text += piece
    resolve({ status: answer.statusCode ?? 0, type: JSON.parse(text).error?.type })
  })
  sent.end('{"model":"stub/flat","messages":[{"role":"user","content":"a drill"}]}')
  return promise
}
