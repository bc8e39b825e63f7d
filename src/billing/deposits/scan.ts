import { type Chain, type ChainTrouble, ChainUnavailable } from '../../kernel/chain.ts'
import type { Lease } from '../../storage/db/lease.ts'
import type { DepositRow } from '../../storage/db/schema.ts'
import type { DepositPolicy } from './deposit.ts'
import { compare, toRow } from './found.ts'
import { settleTx } from './reorg.ts'
import type { Reached } from './store.ts'
import { filterOf, readTransfers, type Transfer } from './transfer.ts'

type Needs = Parameters<typeof settleTx>[0]

/** Blocks that are asked for at once, at most: servers take 10,000. */
const rangeMost = 9000
/** Blocks behind the cursor that every look reads again: for reorgs and for servers that lag. */
const overlap = 600
/** Transfers that are written in one transaction, and transactions that are looked up in one. */
const batch = 500

export type Scan = { chain: Chain; lease: Lease; policy: DepositPolicy; latest: number }

/** What is kept between looks. */
export type Reach = {
  /** How many blocks servers take at once, as it turned out. */
  blocks: number
  /** Whether the last look found the cursor far past the end of the chain. */
  isAhead?: boolean
}

export const newReach = (): Reach => ({ blocks: rangeMost })

/**
 * Reads the transfers of all blocks that were not read yet, and again of those before. A server
 * can push the cursor past the end of the chain by a lie. The newest blocks are read all the same,
 * and a rescan brings the cursor back; a look at a server that lags does not.
 * @throws ChainUnavailable
 */
export async function scan(deps: Needs, on: Scan, reach: Reach): Promise<void> {
  const { deposits } = deps
  let { latest } = on
  const stored = await deposits.cursor()
  const wanted = await deposits.rescanFrom()
  tellAhead(deps, reach, (stored ?? 0) - latest)
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
    // What was a lie about the length must not be walked to its end.
    if (from <= latest) latest = Math.min(latest, (await on.chain.block('latest')).number)
  }
}

/** Says once that the cursor is further past the end of the chain than servers usually lag. */
function tellAhead({ log }: Needs, reach: Reach, blocks: number): void {
  const isAhead = blocks > overlap
  if (isAhead && !reach.isAhead) log.warn('deposits.cursor_ahead', { blocks })
  reach.isAhead = isAhead
}

/** Undefined when the range was too much and the next try asks for half. */
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
    // After a timeout the server rests; what cannot be halved is another trouble.
    if (error.reason === 'timeout' || asked === 1) throw error
    return undefined
  }
}

/** What servers say to a range that is too large for them. */
const tooMuch: ChainTrouble[] = ['refused', 'too_large', 'timeout']

/**
 * Takes in what a range holds: new transfers are written, those that stand elsewhere than before
 * or no longer are looked up by their transaction.
 */
async function absorb(
  deps: Needs,
  on: Scan,
  range: { from: number; to: number },
  transfers: Transfer[],
  reached: Reached,
): Promise<void> {
  const { deposits } = deps
  const found = new Set(transfers.map(({ txHash }) => txHash))
  const known: DepositRow[] = []
  for (const some of chunks([...found], batch)) known.push(...(await deposits.ofTxs(some)))
  const { fresh, doubtful } = compare(transfers, known)
  const missing = (await deposits.openIn(range)).filter(({ txHash }) => !found.has(txHash))
  const unsure = new Set([...doubtful, ...missing.map(({ txHash }) => txHash)])
  for (const txHash of unsure) await settleTx(deps, on, txHash)
  const rows = fresh.map((transfer) => toRow(deps, transfer, on.policy))
  for (const some of chunks(rows, batch)) await deposits.record(on.lease, some)
  await deposits.record(on.lease, [], reached)
}

function* chunks<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
