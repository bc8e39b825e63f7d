/** The chain port over JSON-RPC. */
import { type Chain, ChainReverted, ChainUnavailable, type SendResult } from '../../kernel/chain.ts'
import {
  readBlock,
  readFees,
  readHex,
  readList,
  readLog,
  readQuantity,
  readReceipt,
  toParameter,
} from './rpc-forms.ts'
import { openServers, type RpcCall, RpcError, type RpcOptions } from './servers.ts'

/** Chain 4663 over JSON-RPC: several servers, the first one that is well answers. */
export function rpcChain(options: RpcOptions): Chain {
  const { ask, close } = openServers(options)
  const run: RpcCall = (method, params) => ask(method, params).catch(toFailure)
  const number = async (method: string, params: unknown[]) =>
    readQuantity(await run(method, params))
  return {
    block: async (at) => readBlock(await run('eth_getBlockByNumber', [toParameter(at), false])),
    call: async (to, data, at = 'latest') =>
      readHex(await run('eth_call', [to === null ? { data } : { to, data }, toParameter(at)])),
    code: async (address, at = 'latest') =>
      readHex(await run('eth_getCode', [address, toParameter(at)])),
    nonce: async (sender) => Number(await number('eth_getTransactionCount', [sender, 'latest'])),
    balance: (address) => number('eth_getBalance', [address, 'latest']),
    estimateGas: (tx) => number('eth_estimateGas', [tx, 'latest']),
    fees: async () => {
      const latest = await run('eth_getBlockByNumber', ['latest', false])
      return readFees(latest, await number('eth_maxPriorityFeePerGas', []))
    },
    send: (raw) =>
      ask('eth_sendRawTransaction', [raw])
        .then((): SendResult => 'sent', whatBecame)
        .catch(toFailure),
    receipt: async (hash) => {
      const found = await run('eth_getTransactionReceipt', [hash])
      return found === null ? undefined : readReceipt(found)
    },
    logs: async ({ address, topics, fromBlock, toBlock }) => {
      const range = { fromBlock: toParameter(fromBlock), toBlock: toParameter(toBlock) }
      return readList(await run('eth_getLogs', [{ address, topics, ...range }])).map(readLog)
    },
    close,
  }
}

/** Messages by which servers refuse a transaction; their error codes do not tell these apart. */
const sayings: [RegExp, SendResult][] = [
  [/already known|already imported|known transaction/i, 'known'],
  [/nonce too low|nonce is too low/i, 'nonce_used'],
  [/insufficient funds|insufficient balance/i, 'no_funds'],
  [/underpriced|less than block base fee|fee too low|max fee per gas less/i, 'underpriced'],
]

function whatBecame(error: unknown): SendResult {
  const said = error instanceof RpcError ? error.said : ''
  const known = sayings.find(([pattern]) => pattern.test(said))
  if (known) return known[1]
  throw error
}

function toFailure(error: unknown): never {
  if (!(error instanceof RpcError)) throw error
  if (error.reverted !== undefined) throw new ChainReverted(error.reverted)
  throw new ChainUnavailable('refused')
}
