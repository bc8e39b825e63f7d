/** Compares the chain's anchors with the stored ones and repairs these after a restore. */
import type { Deps } from '../../app/deps-port.ts'
import { type Chain, type ChainLog, ChainUnavailable } from '../../kernel/chain.ts'
import { fromHex, toHex } from '../../kernel/hex.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { AnchorRow } from '../../storage/db/schema/schema.ts'
import { hashOf, peaksOf } from '../log/tree.ts'
import { anchoredTopics, type RegistryAnchor, readAnchored } from './registry.ts'
import type { ChainSighting } from './watch.ts'

type SyncDeps = Pick<Deps, 'anchors' | 'clock' | 'ids' | 'logs' | 'logStore'>

export type SyncResult = {
  /** Anchors on the chain. */
  found: number
  /** Anchors that were missing or wrong in the database. */
  repaired: number
  /** Sizes with another root than our log, or beyond its end. */
  diverged: number[]
}

/** Blocks in one query: at first, and at most. */
const firstRange = 10_000
const mostRange = 1_000_000

/**
 * Reads all anchors of the current log from block `fromBlock` on.
 * @throws ChainUnavailable
 */
export async function syncAnchors(
  deps: SyncDeps,
  { chain, place, head }: ChainSighting,
  { lease, fromBlock }: { lease: Lease; fromBlock: number },
): Promise<SyncResult> {
  const synced: SyncResult = { found: 0, repaired: 0, diverged: [] }
  const finalized = (await chain.block('finalized')).number
  const latest = (await chain.block('latest')).number
  for await (const log of anchoredLogs(chain, place, fromBlock, latest)) {
    const anchored = readAnchored(log)
    synced.found++
    if (!(await isOurs(deps, anchored))) {
      synced.diverged.push(anchored.size)
      continue
    }
    const isFinal = log.blockNumber <= finalized
    if (await repair(deps, { chain, lease }, { anchored, log, isFinal })) synced.repaired++
  }
  if (synced.found < head.count) {
    const blocks = `between the blocks ${fromBlock} and ${latest}`
    throw new Error(`the registry counts ${head.count} anchors, but ${synced.found} are ${blocks}`)
  }
  return synced
}

/** Reads block ranges: halved when a server refuses one, doubled when it answers. */
async function* anchoredLogs(
  chain: Chain,
  { registry: address, id }: ChainSighting['place'],
  from: number,
  latest: number,
): AsyncGenerator<ChainLog> {
  const topics = anchoredTopics(id)
  let range = firstRange
  for (let fromBlock = from; fromBlock <= latest; ) {
    const toBlock = Math.min(latest, fromBlock + range - 1)
    try {
      yield* await chain.logs({ address, topics, fromBlock, toBlock })
      fromBlock = toBlock + 1
      range = Math.min(range * 2, mostRange)
    } catch (error) {
      const isRange =
        error instanceof ChainUnavailable && /^(refused|too_large)$/.test(error.reason)
      if (!isRange || range === 1) throw error
      range = Math.ceil(range / 2)
    }
  }
}

async function isOurs(
  { logs, logStore }: SyncDeps,
  { size, root }: RegistryAnchor,
): Promise<boolean> {
  if (size > (await logStore.size())) return false
  const range = { from: 0, to: size }
  return toHex(hashOf(range, await logStore.hashes(logs.current, peaksOf(range)))) === root
}

type FoundAnchor = { anchored: RegistryAnchor; log: ChainLog; isFinal: boolean }

/** Updates the row of an anchor to the chain's state. Returns whether it changed. */
async function repair(
  { anchors, clock, ids, logs }: SyncDeps,
  { chain, lease }: { chain: Chain; lease: Lease },
  { anchored, log, isFinal }: FoundAnchor,
): Promise<boolean> {
  const issuer = logs.current.origin
  const row = await anchors.at(issuer, anchored.size)
  const isKnown = row?.txHash === log.transactionHash && row.blockHash === log.blockHash
  const isRight = row?.status === 'final' || (row?.status === 'confirmed' && !isFinal)
  if (isKnown && isRight) return false
  const { timestampMs: blockTime } = await chain.block(log.blockNumber)
  const { transactionHash: txHash, blockNumber, blockHash } = log
  const id = row?.id ?? ids.make('anc')
  if (!row) {
    const head = { size: anchored.size, prevSize: anchored.previousSize }
    const fresh = { id, issuer, ...head, root: fromHex(anchored.root), status: 'pending' } as const
    await anchors.add(lease, { ...blank, ...fresh, createdAt: blockTime })
  }
  await anchors.confirm(lease, id, { txHash, blockNumber, blockHash, blockTime })
  if (isFinal) await anchors.finalize(lease, id, clock.now())
  return true
}

const blank: Omit<
  AnchorRow,
  'id' | 'issuer' | 'size' | 'prevSize' | 'root' | 'status' | 'createdAt'
> = {
  nonce: null,
  submittedAt: null,
  txHash: null,
  blockNumber: null,
  blockHash: null,
  blockTime: null,
  finalizedAt: null,
  error: null,
}
