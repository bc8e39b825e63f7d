import type { Lie } from '../../proof/chain/proxy.ts'

/** Lies that an RPC server can tell about a chain that is what it is. */

type Log = { blockHash: string; blockNumber: string; logIndex: string; topics: string[] }
type Receipt = { blockHash: string; blockNumber: string; logs: Log[] } | null
type Block = { number: string; hash: string } | null

const hex = (value: number): string => `0x${value.toString(16)}`
const otherHash = (hash: string): string => `0x17${hash.slice(4)}`
const shifted = <T extends Log>(log: T, by: number): T => ({
  ...log,
  logIndex: hex(Number(log.logIndex) + by),
})
const elsewhere = <T extends { blockHash: string }>(one: T): T => ({
  ...one,
  blockHash: otherHash(one.blockHash),
})

/** Tells other logs, by `eth_getLogs` and in receipts. */
const ofLogs =
  (change: (logs: Log[]) => Log[]): Lie =>
  (method, _, truth) => {
    if (method === 'eth_getLogs') return change(truth as Log[])
    const receipt = method === 'eth_getTransactionReceipt' ? (truth as Receipt) : null
    return receipt ? { ...receipt, logs: change(receipt.logs) } : truth
  }

const ofMethod =
  <T>(asked: string, change: (truth: T, params: unknown[]) => unknown): Lie =>
  (method, params, truth) =>
    method === asked ? change(truth as T, params) : truth

const ofReceipts = (change: (receipt: NonNullable<Receipt>) => Receipt): Lie =>
  ofMethod<Receipt>('eth_getTransactionReceipt', (truth) => truth && change(truth))

const lowered = (block: Block, by: number): Block =>
  block && { ...block, number: hex(Math.max(1, Number(block.number) - by)) }

export const lies: Record<string, Lie> = {
  'logs of another block': ofMethod<Log[]>('eth_getLogs', (logs) => logs.map(elsewhere)),
  'no logs': ofMethod('eth_getLogs', () => []),
  'logs without the first of each transaction': ofMethod<Log[]>('eth_getLogs', (logs) =>
    logs.filter(({ logIndex }) => logIndex !== '0x0'),
  ),
  'the first log is nowhere': ofLogs((logs) => logs.filter(({ logIndex }) => logIndex !== '0x0')),
  'receipts without logs': ofReceipts((receipt) => ({ ...receipt, logs: [] })),
  'no receipts': ofReceipts(() => null),
  'receipts of another block': ofReceipts((receipt) => ({
    ...elsewhere(receipt),
    logs: receipt.logs.map(elsewhere),
  })),
  'log indices shifted by one': ofLogs((logs) => logs.map((log) => shifted(log, 1))),
  'log indices far away': ofLogs((logs) => logs.map((log) => shifted(log, 50))),
  'logs in the opposite order': ofLogs((logs) =>
    logs.map((log) => ({ ...log, logIndex: hex(9 - Number(log.logIndex)) })),
  ),
  'every log twice': ofLogs((logs) => [...logs, ...logs.map((log) => shifted(log, 50))]),
  'every log once more, in front': ofLogs((logs) => [
    ...logs.map((log) => shifted(log, 50)),
    ...logs.map((log) => shifted(log, 51)),
    ...logs,
  ]),
  'the same log again': ofLogs((logs) => [...logs, ...logs].reverse()),
  'logs removed': ofLogs((logs) => logs.map((log) => ({ ...log, removed: true }))),
  'another sender': ofLogs((logs) =>
    logs.map((log) => ({
      ...log,
      topics: log.topics.map((topic, i) => (i === 1 ? `${topic.slice(0, -2)}77` : topic)),
    })),
  ),
  'another amount': ofLogs((logs) =>
    logs.map((log) => ({ ...log, data: `0x${'7'.padStart(64, '0')}` })),
  ),
  'other blocks': ofMethod<Block>('eth_getBlockByNumber', (block) =>
    block ? { ...block, hash: otherHash(block.hash) } : block,
  ),
  'a lower latest': ofMethod<Block>('eth_getBlockByNumber', (block, [tag]) =>
    tag === 'latest' ? lowered(block, 25) : block,
  ),
  'a much lower latest': ofMethod<Block>('eth_getBlockByNumber', (block, [tag]) =>
    tag === 'latest' ? lowered(block, 5000) : block,
  ),
  'a much higher latest': ofMethod<Block>('eth_getBlockByNumber', (block, [tag]) =>
    tag === 'latest' ? lowered(block, -5000) : block,
  ),
  'a lower final block': ofMethod<Block>('eth_getBlockByNumber', (block, [tag]) =>
    tag === 'finalized' || tag === 'safe' ? lowered(block, 500) : block,
  ),
}

/** One server that tells several lies at once. */
export const together =
  (...all: (Lie | undefined)[]): Lie =>
  (method, params, truth) =>
    all.reduce((said, lie) => (lie ? lie(method, params, said) : said), truth)

/** What made earlier builds credit a final deposit again. */
export const denial = together(lies['logs of another block'], lies['receipts without logs'])
