import { depositWatcher } from '../../../src/billing/deposits/watch.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { type Engine, usd, world } from '../../support/world.ts'
import { type StubChain, token, treasury } from './stub-chain.ts'

/** Wallets that deposit; the first is that of the test account. */
export const alice = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
export const bob = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
export const exchange = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'

/** Six decimals: one dollar is a million units. */
export const units = (dollars: number): bigint => BigInt(Math.round(dollars * 1_000_000))

export const tomlOf = (urls: string[], more = ''): string => `[chain]
rpc_urls = ${JSON.stringify(urls)}
treasury = "${treasury}"
token = "${token}"
[deposits]
${more}
`

export type Depositing = Awaited<ReturnType<typeof depositingWorld>>

/** A service in this process that takes deposits on a chain; it looks when it is told to. */
export async function depositingWorld(on: { engine?: Engine; url: string; toml?: string }) {
  const { engine = 'sqlite', url, toml = tomlOf([url]) } = on
  const w = await world({ engine, toml })
  const { deposits } = w.db.tables
  let watch = depositWatcher(w.deps)
  return {
    ...w,
    /** Looks at the chain, without the rest that follows a trouble. */
    look: async (): Promise<void> => {
      await watch()
    },
    /** A watcher that knows nothing about the one before, as after a restart. */
    restart: (): void => {
      watch = depositWatcher(w.deps)
    },
    /** All deposits by their age, short. */
    states: async (): Promise<string[]> => {
      const found = await w.db.read((q) => rows(q.select().from(deposits)))
      found.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
      return found.map(({ status, amount }) => `${status} ${amount === null ? '-' : amount / usd}`)
    },
    all: () => w.db.read((q) => rows(q.select().from(deposits))),
    /** In whole dollars. */
    balance: async (account: string): Promise<number> =>
      Number(((await w.deps.accounts.find(account))?.balance ?? 0n) / usd),
    faults: () => auditStore(w.db).whole(Date.now() + 1_000_000),
    status: async () => (await w.call('/v1/status')).json(),
  }
}

/** Looks until something holds, and a test's clock lets it. */
export async function untilSo(is: () => Promise<boolean> | boolean, ms = 10_000): Promise<void> {
  const until = performance.now() + ms
  while (!(await is())) {
    if (performance.now() > until) throw new Error('it did not come to be')
    await Bun.sleep(10)
  }
}

export type Chained = { chain: StubChain; w: Depositing }
