/** Causes events through a server: keys live and end, runs spend caps, vouchers pay for runs. */
import type { Server } from '../test/support/binary.ts'
import { flatCost } from '../test/support/paced-upstream.ts'

/** An account whose events are delivered. */
export type Teller = { account: string; secret: string; keyId: string }

export type Causing = { rich: Teller; poor: Teller; codes: string[] }

const model = 'stub/flat'
/** Keys that live at a time. */
const workers = 6

type CauseOptions = {
  isOver?: () => boolean
  /** Called at each answer with a 2xx. */
  answered?: () => void
}

/** The server is gone. */
class Gone extends Error {}

/**
 * Keys of the rich account are made, spend their cap or pull their brake, and end; the poor account
 * redeems a voucher and spends it to nothing. Until the server is gone or `isOver`.
 * @returns how many requests were answered with a 2xx.
 */
export async function causeEvents(
  { rich, poor, codes }: Causing,
  server: Server,
  { isOver = () => false, answered = () => {} }: CauseOptions = {},
): Promise<number> {
  let done = 0
  const ask = async (
    key: string,
    path: string,
    json: object,
  ): Promise<{ [name: string]: string }> => {
    const sent = server.call(path, { key, json, signal: AbortSignal.timeout(30_000) })
    try {
      const answer = await sent
      const body = (await answer.json()) as { [name: string]: string }
      if (answer.ok) {
        done++
        answered()
      }
      return body
    } catch {
      throw new Gone()
    }
  }
  const run = (key: string) => ask(key, '/v1/runs', { model, input: 'a drill' })
  const liveKey = async (turn: number): Promise<void> => {
    const brake = turn % 2 === 1 ? { limits: { brake: { nusd_per_minute: flatCost } } } : {}
    const wish = { name: `drill ${turn}`, cap: { limit_nusd: 2 * flatCost }, ...brake }
    const { id, secret = '' } = await ask(rich.secret, '/v1/keys', wish)
    await run(secret)
    await run(secret)
    for (const verb of ['rotate', 'pause', 'revoke'])
      await ask(rich.secret, `/v1/keys/${id}/${verb}`, {})
  }
  const spendVoucher = async (): Promise<void> => {
    const code = codes.pop()
    if (code === undefined) throw new Gone()
    await ask(poor.secret, '/v1/vouchers/redeem', { code })
    for (let i = 0; i < 3; i++) await run(poor.secret)
  }
  const until = async (one: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = 0; !isOver(); turn++) {
      try {
        await one(turn)
      } catch (error) {
        if (error instanceof Gone) return
        throw error
      }
    }
  }
  await Promise.all([until(spendVoucher), ...Array.from({ length: workers }, () => until(liveKey))])
  return done
}
