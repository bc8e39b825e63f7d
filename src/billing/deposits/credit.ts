/** Credits deposits that are deep enough, and finalizes old ones. */

import type { Deps } from '../../app/deps-port.ts'
import type { Doubt } from '../../front/status/health-port.ts'
import type { Chain } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import { isSlotMoving } from '../../kernel/shard.ts'
import { isRepeat } from '../../ledger/fault.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import { creditDeposit } from './credit-deposit.ts'
import { type CrossCheck, crossCheck, holdBack } from './cross-check.ts'
import { dayOf, type Heads, isDeepEnough, softDepth } from './deposit.ts'
import { depositRows } from './deposit-rows.ts'
import { applyReorg, type ChainView, type Inclusion, inclusionOf, isUnmoved } from './reorg.ts'

/** Deposits read at once, and transactions looked up at once. */
const pageRows = 500
const together = 8

/**
 * Credits deposits that are deep enough, after looking them up again and, for large ones, asking
 * the second server. Finalizes credited deposits in final blocks.
 * @throws ChainUnavailable
 */
export async function creditDue(deps: Deps, on: ChainView, heads: Heads): Promise<void> {
  const { deposits } = deps
  const today = dayBook(deps)
  const second = crossCheck({ second: deps.secondChain, policy: on.policy })
  const doubts: Doubt[] = []
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
      const asked = { rows: theirs, heads, today, second, doubts }
      for (const id of await creditSome(deps, { ...on, lease }, asked)) credited.add(id)
    }
    const rest = page.filter(({ id }) => !credited.has(id))
    await confirmOld({ deposits }, { ...on, lease }, rest, heads)
    last = page.at(-1)
    if (page.length < pageRows) break
  }
  deps.health.deposits.doubts = doubts
}

/** Whether the deposit may be deep enough if its account was credited nothing else that day. */
function isReady(row: DepositRow, heads: Heads, { policy }: ChainView): boolean {
  if (row.status === 'credited') return row.blockNumber <= heads.finalized
  const { amount, blockNumber } = row
  return amount !== null && isDeepEnough({ amount, blockNumber, today: 0n }, heads, policy)
}

/** Marks deposits past the depth of small ones: they wait for a safe or final block. */
async function confirmOld(
  { deposits }: Pick<Deps, 'deposits'>,
  { lease }: ChainView,
  page: DepositRow[],
  { latest }: Heads,
): Promise<void> {
  for (const row of page) {
    const isOld = row.status === 'detected' && row.blockNumber <= latest - softDepth
    if (isOld) await deposits.confirm(lease, row)
  }
}

type DayBook = {
  /** Whether a deposit may be credited now. */
  allows(row: DepositRow, inclusion: Inclusion, heads: Heads, on: ChainView): Promise<boolean>
  /** Counts a deposit that was allowed. */
  count(row: DepositRow, inclusion: Inclusion): void
}

const nameOf = ({ account }: DepositRow, blockTime: Millis): string =>
  `${account} ${dayOf(blockTime)}`

/** The credits of accounts per day: the stored sums and the credits since. */
function dayBook({ deposits }: Pick<Deps, 'deposits'>): DayBook {
  const sums = new Map<string, Nusd>()
  return {
    async allows(row, { blockTime }, heads, { policy }) {
      const { amount, account, blockNumber } = row
      if (amount === null) return false
      const day = dayOf(blockTime)
      const name = nameOf(row, blockTime)
      const today = sums.get(name) ?? (await deposits.creditedOn(account, day))
      sums.set(name, today)
      return isDeepEnough({ amount, blockNumber, today }, heads, policy)
    },
    count(row, { blockTime }) {
      const name = nameOf(row, blockTime)
      sums.set(name, (sums.get(name) ?? 0n) + (row.amount ?? 0n))
    },
  }
}

type DueDeposit = {
  rows: DepositRow[]
  heads: Heads
  today: DayBook
  second: CrossCheck
  /** Collects why deposits are held back. */
  doubts: Doubt[]
}

/**
 * Decides one deposit after the other, because each counts towards the day's limit of its account.
 * Returns the ids of deposits that were credited or held back.
 */
async function creditSome(deps: Deps, on: ChainView, due: DueDeposit): Promise<string[]> {
  const { rows, heads, today, second, doubts } = due
  const waiting = rows.filter(({ status }) => status !== 'credited')
  const [inclusions, theirs] = await Promise.all([lookUp(on, rows), second.lookUp(waiting)])
  const changed = new Set<string>()
  const final: DepositRow[] = []
  const credits: Promise<string | undefined>[] = []
  const held: string[] = []
  for (const row of rows) {
    const inclusion = inclusions.get(row.txHash)
    if (!inclusion || !isUnmoved(row, inclusion)) changed.add(row.txHash)
    else if (row.status === 'credited') final.push(row)
    else if (await today.allows(row, inclusion, heads, on)) {
      const isDeepEnough = (seen: Heads) => today.allows(row, inclusion, seen, on)
      const doubt = await second.doubt(row, inclusion, theirs.get(row.txHash), isDeepEnough)
      if (doubt === undefined) {
        today.count(row, inclusion)
        credits.push(credit(deps, row, inclusion))
      } else {
        doubts.push(doubt)
        held.push(row.id)
        await holdBack(deps, on, row, doubt)
      }
    }
  }
  const credited = (await Promise.all(credits)).filter((id) => id !== undefined)
  if (final.length > 0) await deps.deposits.finalize(on.lease, final)
  for (const { id, txHash } of final)
    deps.log.info('deposit.finalized', { deposit: id, tx: txHash })
  for (const txHash of changed) await applyReorg(deps, on, txHash)
  return [...credited, ...held]
}

async function lookUp(
  on: Pick<ChainView, 'policy'> & { chain: Chain },
  some: DepositRow[],
): Promise<Map<string, Inclusion | undefined>> {
  const hashes = [...new Set(some.map(({ txHash }) => txHash))]
  const found = await Promise.all(hashes.map((hash) => inclusionOf(on, hash)))
  return new Map(hashes.map((hash, i) => [hash, found[i]]))
}

async function credit(
  { ledger, log }: Deps,
  row: DepositRow,
  { blockHash, blockTime }: Inclusion,
): Promise<string | undefined> {
  const { id, account, amount, txHash } = row
  const command = {
    account,
    opens: true,
    keys: [],
    isExempt: true,
    parts: [depositRows.of(id)],
    decide: (unit: UnitOfWork) => creditDeposit(unit, id, { blockHash, blockTime }),
  }
  const isCredited = await ledger.post(command).catch((error: unknown) => {
    if (isSlotMoving(error)) return false
    if (!isRepeat(error)) throw error
    // This deposit must not block those behind it.
    const what = `the journal has a credit of the transfer of deposit ${id} already`
    log.error('deposit.repeated', new Error(what), { deposit: id, tx: txHash })
    return false
  })
  if (isCredited) log.info('deposit.credited', { deposit: id, tx: txHash, nusd: String(amount) })
  return isCredited ? id : undefined
}
