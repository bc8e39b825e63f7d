import { expect } from 'bun:test'
import { agentToml, startAgentUpstream } from '../support/agent-upstream.ts'
import { grant, type Home, makeHome, makeKey, type Server } from '../support/binary.ts'
import { pricedBuiltins, until } from '../support/runs.ts'
import type { StubUpstream } from '../support/stub-upstream.ts'

export type Run = {
  usage_source: string
  id: string
  status: string
  outcome: string
  cost_nusd: number
  hold_nusd: number
  receipt_id: string
  lines: { meter: string; quantity: number }[]
}

export type Served = Awaited<ReturnType<typeof serveBinary>>

/** The executable with an upstream that acts like a model, and a funded key: all a client needs. */
export async function serveBinary() {
  const stub: StubUpstream = await startAgentUpstream()
  return { stub, ...(await startServing(stub, `${pricedBuiltins}\n${agentToml(stub.url)}`)) }
}

/** A server of one configuration, what its account ran and paid, and the end of both. */
export async function startServing(stub: { stop(): Promise<void> }, toml: string) {
  const home: Home = await makeHome(toml)
  const key = await makeKey(home)
  await grant(home, '100.00')
  const server: Server = await home.start()
  const get = async <T>(path: string): Promise<T> =>
    (await (await server.call(path, { key: key.secret })).json()) as T
  const runs = async () => (await get<{ data: Run[] }>('/v1/runs?limit=100')).data
  const balance = () => get<{ balance_nusd: number; held_nusd: number }>('/v1/balance')
  return {
    server,
    baseUrl: `${server.origin}/v1`,
    secret: key.secret,
    /** A command of the same executable. */
    cli: (...args: string[]) => home.cli(...args),
    folder: home.folder,
    /** Another key of the account: limits of its own. */
    key: async (...args: string[]) => (await makeKey(home, { cap: '10.00' }, ...args)).secret,
    /** A key below one that may make them, with limits of its own. */
    child: async (limits: { rpm: number }) => {
      const parent = await makeKey(home, { cap: '10.00' }, '--scopes', 'runs:write,keys:mint')
      const json = { name: 'limited', cap: { limit_nusd: 1_000_000_000 }, limits }
      const answer = await server.call('/v1/keys', { key: parent.secret, json })
      return ((await answer.json()) as { secret: string }).secret
    },
    poorKey: async () => (await makeKey(home, { cap: '0.000000001' })).secret,
    /** All that `work` ran, oldest first, once nothing is held; it cost what the balance lost. */
    async ranBy(work: () => Promise<unknown>): Promise<Run[]> {
      const known = new Set((await runs()).map(({ id }) => id))
      const before = await balance()
      await work()
      const after = await until('every hold to be settled', async () => {
        const now = await balance()
        return now.held_nusd === 0 && now
      })
      const made = (await runs()).filter(({ id }) => !known.has(id)).reverse()
      const cost = made.reduce((sum, run) => sum + run.cost_nusd, 0)
      expect(before.balance_nusd - after.balance_nusd).toBe(cost)
      return made
    },
    /** Follows a receipt as its owner and lets the server check it. */
    async checkReceipt(receipt: { id: string; digest: string; cost_nusd: number }) {
      const file = await get<{ digest: string; receipt: { charge: { amount: string } } }>(
        `/v1/receipts/${receipt.id}`,
      )
      expect(file.digest).toBe(receipt.digest)
      expect(file.receipt.charge.amount).toBe(String(receipt.cost_nusd))
      const checked = await server.call('/v1/receipts/verify', { json: file })
      expect(await checked.json()).toMatchObject({ valid: true })
    },
    async stop() {
      await home.remove()
      await stub.stop()
    },
  }
}

/** Sets the two variables that OpenAI's clients read; what it gives back sets them as before. */
export const setEnvironment = (baseUrl: string, apiKey: string): (() => void) =>
  setVariables({ OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey })

/** Sets variables; what it gives back sets them as before. */
export function setVariables(names: Record<string, string>): () => void {
  const before = Object.keys(names).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, names)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** The error that `asked` ends with. */
export async function errorOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
