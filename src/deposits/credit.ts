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
 * block, and closes what is final. Gives how many were credited.
 * @throws ChainUnavailable
 */
export async function creditDue(deps: Needs, on: On, heads: Heads): Promise<number> {
  const { deposits } = deps
  const today = dayBook(deps)
  let credited = 0
  let last: DepositRow | undefined
  for (;;) {
    const lease = await deposits.takeLease()
    if (!lease) return credited
    const page = await deposits.due(heads.finalized, pageRows, last)
    const due = page.filter((row) => isReady(row, heads, on))
    for (let at = 0; at < due.length; at += together) {
      const some = due.slice(at, at + together)
      credited += await creditSome(deps, { ...on, lease }, some, heads, today)
    }
    await confirmOld({ deposits }, { ...on, lease }, page, heads)
    last = page.at(-1)
    if (page.length < pageRows) return credited
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
    // One that was credited meanwhile stays as it is.
    if (isOld) await deposits.confirm(lease, row)
  }
}

type DayBook = ReturnType<typeof dayBook>

/** What accounts were credited of each day, counted on from what is stored. */
function dayBook({ deposits }: Pick<Needs, 'deposits'>) {
  const sums = new Map<string, Nusd>()
  return {
    of: async (account: string, day: number): Promise<Nusd> => {
      const known = sums.get(`${account} ${day}`)
      if (known !== undefined) return known
      const stored = await deposits.creditedOn(account, day)
      sums.set(`${account} ${day}`, stored)
      return stored
    },
    set: (account: string, day: number, sum: Nusd) => void sums.set(`${account} ${day}`, sum),
  }
}

/** One after the other: what one account got today counts for its next deposit. */
async function creditSome(
  deps: Needs,
  on: On,
  some: DepositRow[],
  heads: Heads,
  today: DayBook,
): Promise<number> {
  const standings = await lookUp(on, some)
  let credited = 0
  for (const row of some) {
    const standing = standings.get(row.txHash)
    if (!standing || !standsAsBefore(row, standing)) await settleTx(deps, on, row.txHash)
    else if (row.status === 'credited') await finalize(deps, on, row)
    else if (await creditOne(deps, on, row, { standing, heads, today })) credited++
  }
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

async function finalize({ deposits, log }: Needs, { lease }: On, row: DepositRow): Promise<void> {
  await deposits.finalize(lease, row)
  log.info('deposit.finalized', { deposit: row.id, tx: row.txHash })
}

async function creditOne(
  { ledger, log }: Needs,
  { policy }: On,
  row: DepositRow,
  at: { standing: Standing; heads: Heads; today: DayBook },
): Promise<boolean> {
  const { amount, account, blockNumber } = row
  if (amount === null) return false
  const { blockHash, blockTime } = at.standing
  const day = dayOf(blockTime)
  const today = await at.today.of(account, day)
  if (!isDeepEnough({ amount, blockNumber, today }, at.heads, policy)) return false
  const isCredited = await ledger.post({
    account,
    opens: true,
    keys: [],
    deposit: row.id,
    decide: (book) => creditDeposit(book, row.id, { blockHash, blockTime }),
  })
  if (!isCredited) return false
  at.today.set(account, day, today + amount)
  log.info('deposit.credited', { deposit: row.id, tx: row.txHash, nusd: amount.toString() })
  return true
}
