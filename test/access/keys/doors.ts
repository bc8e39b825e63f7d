import { expect } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { usd, type World } from '../../support/world.ts'

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** The time of a service whose key routes are tested. */
export const now = Date.UTC(2026, 6, 15, 12)

export type Caller = { id: string; secret: string }

/** A key that may do everything, and one of another account. */
export async function makeCallers(w: World): Promise<{ top: Caller; foreign: Caller }> {
  const top = await w.key({ balance: 10n * usd, capLimit: 5n * usd, scopes: [...scopes] })
  const foreign = await w.key({ account: otherAccount, scopes: [...scopes] })
  return {
    top: { id: top.key.id, secret: top.secret },
    foreign: { id: foreign.key.id, secret: foreign.secret },
  }
}

/** Calls of the routes of keys, each with the secret of a key. */
export function callsOf(world: () => World) {
  return {
    get: async (key: string, path: string) => (await world().call(path, { key })).json(),
    post: (key: string, path: string, json?: unknown) =>
      json === undefined
        ? world().call(path, { key, method: 'POST' })
        : world().call(path, { key, json }),
    mint: async (key: string, wish: object = {}) => {
      const json = { name: 'child', cap: { limit_nusd: 1_000_000, window: 'day' }, ...wish }
      const answer = await world().call('/v1/keys', { key, json })
      expect(answer.status).toBe(201)
      return { headers: answer.headers, ...(await answer.json()) }
    },
  }
}

/** The status and the type of a refusal. */
export const typeOf = async (answer: Response): Promise<[number, string]> => [
  answer.status,
  (await answer.json()).error.type,
]
