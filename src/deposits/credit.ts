import type { Chain } from '../chain/chain.ts'
import type { DepositRow } from '../db/schema.ts'
import type { Nusd } from '../kernel/money.ts'
import { creditDeposit } from '../ledger/deposit.ts'
import { dayOf, type Heads, isDeepEnough, softDepth } from './deposit.ts'
import { type On, type Standing, settleTx, standingOf } from './settle.ts'
import { placeOf } from './transfer.ts'

type Needs = Parameters<typeof settleTx>[0]

/** Deposits that are read at once, and transactions that are looked up at once. */
const pageRows = 500
const together = 8

/**
 * Goes through what waits: credits what stands deep enough, after it was looked up again in its
 * block, and closes what is final.
 * @throws ChainUnavailable
 */
export async function creditDue(deps: Needs, on: On, heads: Heads): Promise<void> {
  const { deposits } = deps
  const today = dayBook(deps)
  let last: DepositRow | undefined
  for (;;) {
    const lease = await deposits.takeLease()
    if (!lease) return
    const page = await deposits.due(heads.finalized, pageRows, last)
    const due = page.filter((row) => isReady(row, heads, on))
    const credited = new Set<string>()
    const hashes = [...new Set(due.map(({ txHash }) => txHash))]
    for (let at = 0; at < hashes.length; at += together) {
      const some = hashes.slice(at, at + together)
      const theirs = due.filter(({ txHash }) => some.includes(txHash))
      for (const id of await creditSome(deps, { ...on, lease }, theirs, heads, today)) {
        credited.add(id)
      }
    }
    const rest = page.filter(({ id }) => !credited.has(id))
    await confirmOld({ deposits }, { ...on, lease }, rest, heads)
    last = page.at(-1)
    if (page.length < pageRows) return
  }
}

/** Whether it is worth asking the chain: it may be deep enough if its account got nothing today. */
function isReady(row: DepositRow, heads: Heads, { policy }: On): boolean {
  if (row.status === 'credited') return row.blockNumber <= heads.finalized
  const { amount, blockNumber } = row
  return amount !== null && isDeepEnough({ amount, blockNumber, today: 0n }, heads, policy)
}

/** What waits for longer than a small deposit does is waiting for a safe or a final block. */
async function confirmOld(
  { deposits }: Pick<Needs, 'deposits'>,
  { lease }: On,
  page: DepositRow[],
  { latest }: Heads,
): Promise<void> {
  for (const row of page) {
    const isOld = row.status === 'detected' && row.blockNumber <= latest - softDepth
    if (isOld) await deposits.confirm(lease, row)
  }
}

type DayBook = ReturnType<typeof dayBook>

/** What accounts were credited of each day, counted on from what is stored. */
function dayBook({ deposits }: Pick<Needs, 'deposits'>) {
  const sums = new Map<string, Nusd>()
  return {
    /** Whether a deposit may be credited now; counts it if so. */
    async allows(row: DepositRow, { blockTime }: Standing, heads: Heads, { policy }: On) {
      const { amount, account, blockNumber } = row
      if (amount === null) return false
      const day = dayOf(blockTime)
      const name = `${account} ${day}`
      const today = sums.get(name) ?? (await deposits.creditedOn(account, day))
      const isAllowed = isDeepEnough({ amount, blockNumber, today }, heads, policy)
      sums.set(name, isAllowed ? today + amount : today)
      return isAllowed
    },
  }
}

/**
 * Decides one after the other: what one account got today counts for its next deposit. Gives the
 * ids of what was credited.
 */
async function creditSome(
  deps: Needs,
  on: On,
  some: DepositRow[],
  heads: Heads,
  today: DayBook,
): Promise<string[]> {
  const standings = await lookUp(on, some)
  const changed = new Set<string>()
  const final: DepositRow[] = []
  const credits: Promise<string | undefined>[] = []
  for (const row of some) {
    const standing = standings.get(row.txHash)
    if (!standing || !standsAsBefore(row, standing)) changed.add(row.txHash)
    else if (row.status === 'credited') final.push(row)
    else if (await today.allows(row, standing, heads, on)) credits.push(credit(deps, row, standing))
  }
  const credited = (await Promise.all(credits)).filter((id) => id !== undefined)
  if (final.length > 0) await deps.deposits.finalize(on.lease, final)
  for (const { id, txHash } of final)
    deps.log.info('deposit.finalized', { deposit: id, tx: txHash })
  for (const txHash of changed) await settleTx(deps, on, txHash)
  return credited
}

async function lookUp(
  on: Pick<On, 'policy'> & { chain: Chain },
  some: DepositRow[],
): Promise<Map<string, Standing | undefined>> {
  const hashes = [...new Set(some.map(({ txHash }) => txHash))]
  const found = await Promise.all(hashes.map((hash) => standingOf(on, hash)))
  return new Map(hashes.map((hash, i) => [hash, found[i]]))
}

/** Whether the chain still has exactly this transfer in exactly this block. */
function standsAsBefore(row: DepositRow, { transfers }: Standing): boolean {
  const found = transfers.find((one) => placeOf(one) === placeOf(row))
  return found?.blockHash === row.blockHash && found.units.toString() === row.tokenAmount
}

async function credit(
  { ledger, log }: Needs,
  row: DepositRow,
  { blockHash, blockTime }: Standing,
): Promise<string | undefined> {
  const { id, account, amount, txHash } = row
  const isCredited = await ledger.post({
    account,
    opens: true,
    keys: [],
    deposit: id,
    decide: (book) => creditDeposit(book, id, { blockHash, blockTime }),
  })
  if (isCredited) log.info('deposit.credited', { deposit: id, tx: txHash, nusd: String(amount) })
  return isCredited ? id : undefined
}
