import type { Deps } from '../../app/deps-port.ts'
import type { Doubt } from '../../front/status/health-port.ts'
import type { Chain } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import { creditDeposit } from '../../ledger/credit-deposit.ts'
import { isRepeat } from '../../ledger/fault.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { DepositRow } from '../../storage/db/schema.ts'
import { dayOf, type Heads, isDeepEnough, softDepth } from './deposit.ts'
import { type On, type Standing, settleTx, standingOf, standsAsBefore } from './reorg.ts'
import { holdBack, type Second, secondServer } from './second.ts'

type Needs = Parameters<typeof settleTx>[0] & Pick<Deps, 'health' | 'secondChain'>

/** Deposits that are read at once, and transactions that are looked up at once. */
const pageRows = 500
const together = 8

/**
 * Goes through what waits: credits what stands deep enough, after it was looked up again in its
 * block and the second server, if there is one, agreed; and closes what is final.
 * @throws ChainUnavailable
 */
export async function creditDue(deps: Needs, on: On, heads: Heads): Promise<void> {
  const { deposits } = deps
  const today = dayBook(deps)
  const second = secondServer({ second: deps.secondChain, policy: on.policy })
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

const nameOf = ({ account }: DepositRow, blockTime: Millis): string =>
  `${account} ${dayOf(blockTime)}`

/** What accounts were credited of each day, counted on from what is stored. */
function dayBook({ deposits }: Pick<Needs, 'deposits'>) {
  const sums = new Map<string, Nusd>()
  return {
    /** Whether a deposit may be credited now. */
    async allows(row: DepositRow, { blockTime }: Standing, heads: Heads, { policy }: On) {
      const { amount, account, blockNumber } = row
      if (amount === null) return false
      const day = dayOf(blockTime)
      const name = nameOf(row, blockTime)
      const today = sums.get(name) ?? (await deposits.creditedOn(account, day))
      sums.set(name, today)
      return isDeepEnough({ amount, blockNumber, today }, heads, policy)
    },
    /** Counts one that was allowed. */
    count(row: DepositRow, { blockTime }: Standing): void {
      const name = nameOf(row, blockTime)
      sums.set(name, (sums.get(name) ?? 0n) + (row.amount ?? 0n))
    },
  }
}

type Due = {
  rows: DepositRow[]
  heads: Heads
  today: DayBook
  second: Second
  /** Gets what holds deposits back. */
  doubts: Doubt[]
}

/**
 * Decides one after the other: what one account got today counts for its next deposit. Gives the
 * ids of what was credited or is held back.
 */
async function creditSome(deps: Needs, on: On, due: Due): Promise<string[]> {
  const { rows, heads, today, second, doubts } = due
  const waiting = rows.filter(({ status }) => status !== 'credited')
  const [standings, theirs] = await Promise.all([lookUp(on, rows), second.lookUp(waiting)])
  const changed = new Set<string>()
  const final: DepositRow[] = []
  const credits: Promise<string | undefined>[] = []
  const held: string[] = []
  for (const row of rows) {
    const standing = standings.get(row.txHash)
    if (!standing || !standsAsBefore(row, standing)) changed.add(row.txHash)
    else if (row.status === 'credited') final.push(row)
    else if (await today.allows(row, standing, heads, on)) {
      const isDeepEnough = (seen: Heads) => today.allows(row, standing, seen, on)
      const doubt = await second.doubt(row, standing, theirs.get(row.txHash), isDeepEnough)
      if (doubt === undefined) {
        today.count(row, standing)
        credits.push(credit(deps, row, standing))
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
  for (const txHash of changed) await settleTx(deps, on, txHash)
  return [...credited, ...held]
}

async function lookUp(
  on: Pick<On, 'policy'> & { chain: Chain },
  some: DepositRow[],
): Promise<Map<string, Standing | undefined>> {
  const hashes = [...new Set(some.map(({ txHash }) => txHash))]
  const found = await Promise.all(hashes.map((hash) => standingOf(on, hash)))
  return new Map(hashes.map((hash, i) => [hash, found[i]]))
}

async function credit(
  { ledger, log }: Needs,
  row: DepositRow,
  { blockHash, blockTime }: Standing,
): Promise<string | undefined> {
  const { id, account, amount, txHash } = row
  const command = {
    account,
    opens: true,
    keys: [],
    deposit: id,
    decide: (unit: UnitOfWork) => creditDeposit(unit, id, { blockHash, blockTime }),
  }
  const isCredited = await ledger.post(command).catch((error: unknown) => {
    if (!isRepeat(error)) throw error
    // It must not keep the deposits behind it from their credit.
    const what = `the journal has a credit of the transfer of deposit ${id} already`
    log.error('deposit.repeated', new Error(what), { deposit: id, tx: txHash })
    return false
  })
  if (isCredited) log.info('deposit.credited', { deposit: id, tx: txHash, nusd: String(amount) })
  return isCredited ? id : undefined
}
