import { type Scope, scopes } from '../../src/access/keys/key.ts'
import type { AuditRow, ShareRow } from '../../src/storage/db/schema/schema.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import type { ReceiptFile } from '../../src/verify/receipt.ts'
import { type Engine, usd, type World, world } from './world.ts'

export const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
export const unknownReceipt = 'rcpt_00000000000000000000000000'

export type Verdict = {
  valid: boolean
  source: string
  hidden: string[]
  checks: { name: string; status: string }[]
}
export type OwnFile = ReceiptFile & { visibility: string }

/** A service with a funded key that may do everything, and short ways to its receipts. */
export async function sharingWorld(engine: Engine, now?: number) {
  const w = await world(now === undefined ? { engine } : { engine, now })
  const { secret, key } = await w.key({ balance: 10n * usd, scopes: [...scopes] })
  const ask = async (content: string, asking = secret) => {
    const body = bodyOf(content)
    const answer = await w.call('/v1/chat/completions', { key: asking, json: body })
    const { receipt } = await answer.json()
    return receipt.id as string
  }
  return {
    w,
    key,
    secret,
    ask,
    get: (id: string, asking?: string, headers: Record<string, string> = {}) =>
      w.call(`/v1/receipts/${id}`, { ...(asking ? { key: asking } : {}), headers }),
    share: (id: string, json: object, asking = secret) =>
      w.call(`/v1/receipts/${id}/share`, { key: asking, json }),
    erase: (id: string, asking = secret) =>
      w.call(`/v1/receipts/${id}/erase`, { key: asking, method: 'POST' }),
    own: async (id: string): Promise<OwnFile> =>
      (await w.call(`/v1/receipts/${id}`, { key: secret })).json(),
    shown: async (id: string): Promise<ReceiptFile> => (await w.call(`/v1/receipts/${id}`)).json(),
    verify: async (json: unknown): Promise<Verdict> =>
      (await w.call('/v1/receipts/verify', { json })).json(),
  }
}

export type SharingWorld = Awaited<ReturnType<typeof sharingWorld>>

/** The request that {@link SharingWorld.ask} sends, and what the built-in model says to it. */
export const bodyOf = (content: string) => ({
  model: 'counterfoil/echo-1',
  messages: [{ role: 'user', content }],
})
export const saidTo = (content: string) => [
  { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' },
]

export const without = (...left: Scope[]): Scope[] => scopes.filter((one) => !left.includes(one))

export const auditsOf = (w: World, subject: string): Promise<AuditRow[]> =>
  w.db.read(function* (q) {
    const all = yield* rows(q.select().from(w.db.tables.auditEntries))
    return all.filter((row) => row.subject === subject).sort((one, other) => one.at - other.at)
  })

export const sharesOf = (w: World): Promise<ShareRow[]> =>
  w.db.read((q) => rows(q.select().from(w.db.tables.shares)))

export const failedIn = ({ checks }: Verdict): string[] =>
  checks.filter(({ status }) => status === 'fail').map(({ name }) => name)

/** An answer but for its request id and the time: what anyone could tell two of them apart by. */
export async function tellsOf(answer: Response): Promise<string> {
  const headers = [...answer.headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
  const body = (await answer.text()).replace(/req_\w{26}/, '')
  return JSON.stringify([answer.status, headers.sort(), body])
}
