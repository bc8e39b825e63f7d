/** A local chain with a registry of anchors and a stablecoin, whose time can be moved. */
import type { Address } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import artefact from '../../contracts/AnchorRegistry.json' with { type: 'json' }
import { toChecksumAddress } from '../../src/verify/address.ts'
import { ask, deployUsd } from '../../test/billing/deposits/anvil-deposits.ts'
import { openChain } from '../../test/contracts/chain.ts'

const words = 'test test test test test test test test test test test junk'

/** One of the well-known test wallets, which anvil funds. Their private keys are public. */
export const testWallet = (index: number) => mnemonicToAccount(words, { addressIndex: index })

export type LocalChain = Awaited<ReturnType<typeof openLocalChain>>

/** Opens a chain that began at a time, in ms. */
export async function openLocalChain(start: number) {
  const chain = await openChain('--timestamp', String(Math.floor(start / 1000)))
  const registry = toChecksumAddress((await chain.deploy(artefact)).address)
  const usd = await deployUsd(chain)
  const treasury = testWallet(9).address
  const rpc = (method: string, ...params: unknown[]) => ask(chain.url, method, params)
  return {
    url: chain.url,
    registry,
    token: toChecksumAddress(usd.address),
    treasury,
    /** Sends dollars to the treasury. Returns the hash of the transaction. */
    async pay(from: Address, dollars: number): Promise<string> {
      const units = BigInt(Math.round(dollars * 1_000_000))
      await usd.send(from, 'mint', from, units)
      return (await usd.send(from, 'transfer', treasury, units)).transactionHash
    },
    /** Makes so many blocks, a second apart. */
    mine: (blocks: number) => rpc('anvil_mine', `0x${blocks.toString(16)}`),
    /** From the next block on the chain's time is this, in ms, unless it is past it already. */
    async moveTo(time: number): Promise<void> {
      const block = (await rpc('eth_getBlockByNumber', 'latest', false)) as { timestamp: string }
      const wanted = Math.floor(time / 1000)
      if (wanted > Number(block.timestamp)) await rpc('evm_setTime', wanted)
    },
    stop: chain.stop,
  }
}
