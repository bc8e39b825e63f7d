import { expect } from 'bun:test'
import { embeddingToml, expectSettled, modelsToml, pricedBuiltins } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { type Engine, usd, world } from '../../support/world.ts'

export type File = {
  receipt: {
    id: string
    subject: { account: string; key: string }
    run: { outcome: string; model: string; kind: string; usageSource: string }
    charge: {
      lines: { meter: string; quantity: string; price: string }[]
      discountBps: string
      amount: string
    }
    content: { input: string; output: string }
  }
  digest: string
  signature: string
  disclosures: Record<'input' | 'output', { salt: string } | undefined>
}
export type Verdict = { valid: boolean; level: string; checks: { name: string; status: string }[] }

/** What the chats of these tests say. */
export const hello = [{ role: 'user', content: 'hello there' }]

export type Issuing = Awaited<ReturnType<typeof issuingWorld>>

/** A service with an upstream and a funded key, for the routes of receipts. */
export async function issuingWorld(engine: Engine) {
  const stub = await startStubUpstream()
  const toml =
    pricedBuiltins +
    modelsToml(stub.url, ['normal', 'slow', 'stall', 'cut-1', 'status-500']) +
    embeddingToml('stub/embed', '"stub:embed"')
  const w = await world({ engine, toml })
  const { secret } = await w.key({ balance: 10n * usd })
  return {
    w,
    stub,
    secret,
    stop: async () => {
      await expectSettled(w)
      await w.stop()
      await stub.stop()
    },
  }
}

/** Calls of the routes that make, show and verify receipts. */
export function callsOf(issuing: () => Issuing) {
  const get = (id: string, key?: string) =>
    issuing().w.call(`/v1/receipts/${id}`, key === undefined ? {} : { key })
  return {
    get,
    chat: (model: string, more: object = {}, key = issuing().secret) =>
      issuing().w.call('/v1/chat/completions', { key, json: { model, messages: hello, ...more } }),
    fileOf: async (id: string | null): Promise<File> => {
      const answer = await get(id ?? '', issuing().secret)
      expect(answer.status).toBe(200)
      return answer.json()
    },
    verify: async (file: unknown): Promise<Verdict> => {
      const answer = await issuing().w.call('/v1/receipts/verify', { json: file })
      expect(answer.status).toBe(200)
      return answer.json()
    },
  }
}

/** The names of the checks that failed. */
export const failed = ({ checks }: Verdict): string[] =>
  checks.filter(({ status }) => status === 'fail').map(({ name }) => name)
