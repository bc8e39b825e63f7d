import artefact from '../../../contracts/AnchorRegistry.json' with { type: 'json' }
import { keepAnchored } from '../../../src/proof/anchors/publish.ts'
import { keepCheckpoint } from '../../../src/proof/log/checkpoint.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { toChecksumAddress } from '../../../src/verify/address.ts'
import { type Chain, openChain } from '../../contracts/chain.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { type Engine, usd, type World, world } from '../../support/world.ts'

/** The second well-known test account, which pays for anchors here, and its private key. */
export const senderAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const senderKey = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

/** A service in this process with an anvil of its own and a registry on it. Stop both. */
export async function anchoredWorld({ engine = 'sqlite' }: { engine?: Engine } = {}) {
  const chain = await openChain()
  const deployed = await chain.deploy(artefact)
  const registry = { ...deployed, address: toChecksumAddress(deployed.address) }
  const w = await worldOn({ engine, urls: [chain.url], registry: registry.address })
  return {
    ...w,
    /** The worker looks at the chain so often, and what it sent is in a block before it goes on. */
    look: async (times = 1): Promise<void> => {
      for (let i = 0; i < times; i++) {
        await w.look()
        await mined(chain)
      }
    },
    chain,
    registry,
    rpc: (method: string, ...params: unknown[]) => rpc(chain, method, params),
    stop: async () => {
      await w.stop()
      await chain.stop()
    },
  }
}

/** A service in this process on a chain that others use too, its clock at the time of now. */
export async function worldOn(on: { engine?: Engine; urls: string[]; registry: string }) {
  const toml = tomlOf(on.urls, on.registry)
  const w = await world({ ...on, toml, now: Date.now(), sender: senderKey })
  const { secret } = await w.key({ balance: 10n * usd })
  return { ...w, ...doings(w, secret) }
}

export type Anchored = Awaited<ReturnType<typeof anchoredWorld>>

/** Every new receipt calls for an anchor, at least ten seconds after the one before. */
export const tomlOf = (urls: string[], registry: string): string => `${pricedBuiltins}
[chain]
rpc_urls = ${JSON.stringify(urls)}
[anchors]
registry = "${registry}"
min_receipts = 1
min_interval_s = 10
max_delay_s = 600
`

function doings(w: World, secret: string) {
  const { anchors, chainTxs } = w.db.tables
  return {
    secret,
    /** Leaves this many receipts more and gives the id of the last. */
    receipts: async (count: number): Promise<string> => {
      let id = ''
      for (let i = 0; i < count; i++) {
        const json = { model: 'counterfoil/echo-1', input: 'hello' }
        id = (await (await w.call('/v1/runs', { key: secret, json })).json()).receipt.id
      }
      await w.deps.sequencer.flush()
      await keepCheckpoint(w.deps).catch(() => {})
      return id
    },
    run: () =>
      w.call('/v1/runs', { key: secret, json: { model: 'counterfoil/echo-1', input: 'hello' } }),
    /** The worker looks at the chain so often. */
    look: async (times = 1): Promise<void> => {
      for (let i = 0; i < times; i++) await keepAnchored(w.deps)
    },
    /** All anchors by age, short. */
    anchors: async () => {
      const found = await w.db.read((q) => rows(q.select().from(anchors)))
      found.sort((a, b) => (a.id < b.id ? -1 : 1))
      return found.map(({ status, prevSize, size }) => `${status} ${prevSize}-${size}`)
    },
    /** Every transaction that was signed, by nonce and fees. */
    transactions: async () => {
      const found = await w.db.read((q) => rows(q.select().from(chainTxs)))
      const price = ({ maxFeeWei }: { maxFeeWei: string }) => Number(maxFeeWei)
      return found.sort((a, b) => a.nonce - b.nonce || price(a) - price(b))
    },
    status: async () => (await w.call('/v1/status')).json(),
    proof: async (id: string) => (await w.call(`/v1/receipts/${id}/proof`)).json(),
  }
}

/** Waits for the node to mine what it took, which it does beside its answers, if it does by itself. */
async function mined(chain: Chain): Promise<void> {
  if ((await rpc(chain, 'anvil_getAutomine', [])) !== true) return
  const count = (at: string) => rpc(chain, 'eth_getTransactionCount', [senderAddress, at])
  const deadline = performance.now() + 10_000
  while ((await count('latest')) !== (await count('pending'))) {
    if (performance.now() > deadline) throw new Error('the node does not mine')
    await Bun.sleep(5)
  }
}

async function rpc(chain: Chain, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const answer = await (await fetch(chain.url, { method: 'POST', headers, body })).json()
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result
}
