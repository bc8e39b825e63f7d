/** Reads transfers to the treasury, block range by block range. */
import { type Chain, type ChainTrouble, ChainUnavailable } from '../../kernel/chain.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import type { DepositPolicy } from './deposit.ts'
import type { ScanProgress } from './deposits.ts'
import { sortTransfers, toRow } from './match-transfers.ts'
import { applyReorg, type ReorgDeps } from './reorg.ts'
import { filterOf, readTransfers, type Transfer } from './transfer.ts'

/** The most blocks of one request: servers accept 10,000. */
const rangeMost = 9000
/** Blocks before the cursor that every scan reads again: for reorgs and lagging servers. */
const overlap = 600
/** Transfers written, and transactions looked up, in one database transaction. */
const batch = 500

export type Scan = { chain: Chain; lease: Lease; policy: DepositPolicy; latest: number }

/** State between scans. */
export type Reach = {
  /** The most blocks that the server has accepted in one request. */
  blocks: number
  /** Whether the last scan found the cursor far past the end of the chain. */
  isAhead?: boolean
}

export const newReach = (): Reach => ({ blocks: rangeMost })

/**
 * Reads new blocks, and the last {@link overlap} again. A lying server can push the cursor past the
 * end of the chain. The newest blocks are still read, and a rescan resets the cursor; a lagging
 * server does not.
 * @throws ChainUnavailable
 */
export async function scan(deps: ReorgDeps, on: Scan, reach: Reach): Promise<void> {
  const { deposits } = deps
  let { latest } = on
  const stored = await deposits.cursor()
  const wanted = await deposits.rescanFrom()
  logAhead(deps, reach, (stored ?? 0) - latest)
  const usual = Math.max(0, Math.min(stored ?? latest, latest) + 1 - overlap)
  const least = wanted === undefined ? (stored ?? 0) : Math.min(stored ?? 0, latest)
  let from = Math.min(usual, wanted ?? usual)
  let was = wanted
  while (from <= latest) {
    const lease = await deposits.takeLease()
    if (!lease) return
    const to = Math.min(from + reach.blocks - 1, latest)
    const transfers = await readRange(on, { from, to }, reach)
    if (!transfers) continue
    const next = to >= usual || to === latest ? undefined : to + 1
    const rescan = was === undefined ? undefined : { was, next }
    const reached = { cursor: Math.max(least, to), rescan }
    await absorb(deps, { ...on, lease }, { from, to }, transfers, reached)
    was = next
    from = to + 1
    // A false length must not be scanned to its end.
    if (from <= latest) latest = Math.min(latest, (await on.chain.block('latest')).number)
  }
}

/** Warns once if the cursor is further past the end of the chain than servers usually lag. */
function logAhead({ log }: ReorgDeps, reach: Reach, blocks: number): void {
  const isAhead = blocks > overlap
  if (isAhead && !reach.isAhead) log.warn('deposits.cursor_ahead', { blocks })
  reach.isAhead = isAhead
}

/** Undefined if the range was too large; the next attempt reads half of it. */
async function readRange(
  { chain, policy }: Scan,
  range: { from: number; to: number },
  reach: Reach,
): Promise<Transfer[] | undefined> {
  try {
    const logs = await chain.logs(filterOf(policy, range))
    reach.blocks = Math.min(rangeMost, reach.blocks * 2)
    const within = (at: number) => at >= range.from && at <= range.to
    return readTransfers(logs, policy).filter(({ blockNumber }) => within(blockNumber))
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || !tooMuch.includes(error.reason)) throw error
    const asked = range.to - range.from + 1
    reach.blocks = Math.max(1, Math.floor(Math.min(asked, reach.blocks) / 2))
    // After a timeout the watcher pauses; a range of one block cannot be halved.
    if (error.reason === 'timeout' || asked === 1) throw error
    return undefined
  }
}

/** The errors of servers for a range that is too large. */
const tooMuch: ChainTrouble[] = ['refused', 'too_large', 'timeout']

/**
 * Stores the new transfers of a range, and looks up transactions whose transfers moved or vanished.
 */
async function absorb(
  deps: ReorgDeps,
  on: Scan,
  range: { from: number; to: number },
  transfers: Transfer[],
  reached: ScanProgress,
): Promise<void> {
  const { deposits } = deps
  const found = new Set(transfers.map(({ txHash }) => txHash))
  const known: DepositRow[] = []
  for (const some of chunks([...found], batch)) known.push(...(await deposits.ofTxs(some)))
  const { fresh, doubtful } = sortTransfers(transfers, known)
  const missing = (await deposits.openIn(range)).filter(({ txHash }) => !found.has(txHash))
  const unsure = new Set([...doubtful, ...missing.map(({ txHash }) => txHash)])
  for (const txHash of unsure) await applyReorg(deps, on, txHash)
  const rows = fresh.map((transfer) => toRow(deps, transfer, on.policy))
  for (const some of chunks(rows, batch)) await deposits.record(on.lease, some)
  await deposits.record(on.lease, [], reached)
}

function* chunks<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
