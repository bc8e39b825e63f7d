import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  type TransactionReceipt,
} from 'viem'
import type { Artefact } from '../../scripts/contracts.ts'
import { until } from '../support/runs.ts'
import { startAnvil } from './anvil.ts'

/** An anvil node and what deploys to it. */
export type Chain = {
  url: string
  /** Unlocked and funded. */
  accounts: Address[]
  deploy(artefact: Artefact): Promise<Contract>
  stop(): Promise<void>
}

/** A deployed contract; functions by their names in the ABI. */
export type Contract = {
  address: Address
  deployment: TransactionReceipt
  read(name: string, ...args: unknown[]): Promise<unknown>
  /** Sends a transaction and waits for it. @throws when it would revert. */
  send(from: Address, name: string, ...args: unknown[]): Promise<TransactionReceipt>
  /** The name and the values of the error with which a call reverts. */
  refusal(from: Address, name: string, ...args: unknown[]): Promise<unknown[]>
}

export async function openChain(...flags: string[]): Promise<Chain> {
  const anvil = await startAnvil(...flags)
  const chain = defineChain({
    id: 4663,
    name: 'test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [anvil.url] } },
  })
  const transport = http(anvil.url)
  const node = createPublicClient({ chain, transport, pollingInterval: 5, cacheTime: 0 })
  const wallet = createWalletClient({ chain, transport })
  const accounts = await wallet.getAddresses()
  // viem asks once a block for a receipt, and anvil makes no further block: one that is asked for
  // a moment too soon would never come.
  const receiptOf = (hash: Hex): Promise<TransactionReceipt> =>
    until(
      `the receipt of ${hash}`,
      () => node.getTransactionReceipt({ hash }).catch(() => undefined),
      30_000,
    )

  const deploy = async ({ abi: entries, bytecode }: Artefact): Promise<Contract> => {
    const abi = entries as Abi
    const account = accounts[0] as Address
    const hash = await wallet.deployContract({ account, abi, bytecode: bytecode as Hex })
    const deployment = await receiptOf(hash)
    const address = deployment.contractAddress as Address
    const call = (functionName: string, args: unknown[]) => ({ address, abi, functionName, args })
    return {
      address,
      deployment,
      read: (name, ...args) => node.readContract(call(name, args)),
      send: async (from, name, ...args) => {
        const sent = await wallet.writeContract({ ...call(name, args), account: from })
        const receipt = await receiptOf(sent)
        if (receipt.status !== 'success') throw new Error(`${name} reverted`)
        return receipt
      },
      refusal: async (from, name, ...args) => {
        const reverted = await node
          .simulateContract({ ...call(name, args), account: from })
          .then(() => undefined, revertOf)
        if (!reverted) throw new Error(`${name} was not refused`)
        return [reverted.data?.errorName, ...(reverted.data?.args ?? [])]
      },
    }
  }
  return { url: anvil.url, accounts, deploy, stop: anvil.stop }
}

function revertOf(error: unknown): ContractFunctionRevertedError {
  const cause =
    error instanceof BaseError && error.walk((e) => e instanceof ContractFunctionRevertedError)
  if (cause instanceof ContractFunctionRevertedError) return cause
  throw error
}
