import { min } from '../../src/kernel/money.ts'
import type { SimChain } from './chain.ts'
import { accountIn, type Model } from './model.ts'
import { refundedOf } from './model-selling.ts'

/** What came in over the chain, and what must be so after a look at it. */
export type ModelDeposit = {
  tx: string
  from: string
  account: string
  amount: bigint
  status: 'ignored' | 'waits' | 'credited' | 'final' | 'orphaned' | 'reversed'
  /** Where it was last seen, and the day of the block that it was credited from. */
  block: number
  day: number
  loss: bigint
  /** What went to another account; null while it is still its sender's. */
  moved: bigint | null
}

/** nUSD: below the first nothing is credited; up to the second early; above the third late. */
export const bounds = { least: 10_000_000n, soft: 400_000_000n, late: 900_000_000n }
/** A unit of the token in nUSD. */
export const unit = 1000n
const dayMs = 86_400_000

/** One whole look at the chain: first what it has now, then what is deep enough, block by block. */
export function judgeLook(m: Model, chain: SimChain): void {
  for (const tx of chain.txs) {
    const known = m.deposits.get(tx.hash)
    if (!known && tx.block !== null) m.deposits.set(tx.hash, fresh(tx.hash, tx.from, tx.units))
    const deposit = m.deposits.get(tx.hash)
    if (!deposit || deposit.status === 'ignored' || deposit.status === 'final') continue
    if (tx.block === null) takeAway(m, deposit)
    else {
      deposit.block = tx.block
      if (deposit.status !== 'credited') deposit.status = 'waits'
    }
  }
  const inOrder = [...m.deposits.values()].sort((a, b) => a.block - b.block)
  for (const deposit of inOrder) {
    if (deposit.status === 'waits' && isDeep(m, deposit, chain)) credit(m, deposit, chain)
    else if (deposit.status === 'credited' && deposit.block <= chain.finalized()) {
      deposit.status = 'final'
    }
  }
}

/** Gives what is still its sender's to another account, once. */
export function judgeAssign(m: Model, tx: string, to: string): string {
  const deposit = m.deposits.get(tx)
  if (!deposit) return 'not_found'
  const { account, from, status, amount } = deposit
  if (account === to || account !== from) return 'conflict'
  if (status === 'waits') {
    deposit.account = to
    return 'ok'
  }
  if (status !== 'credited' && status !== 'final') return 'conflict'
  const source = accountIn(m, from)
  const moved = min(amount - refundedOf(m, from, tx), source.balance - source.held)
  if (moved === 0n) return 'conflict'
  source.balance -= moved
  accountIn(m, to).balance += moved
  Object.assign(deposit, { account: to, moved })
  return 'ok'
}

function fresh(tx: string, from: string, units: bigint): ModelDeposit {
  const amount = units * unit
  const status = amount < bounds.least ? 'ignored' : 'waits'
  return { tx, from, account: from, amount, status, block: -1, day: 0, loss: 0n, moved: null }
}

/** What was credited is taken back as far as it is still there; the rest is the operator's. */
function takeAway(m: Model, deposit: ModelDeposit): void {
  if (deposit.status === 'waits') deposit.status = 'orphaned'
  if (deposit.status !== 'credited') return
  const account = accountIn(m, deposit.account)
  const taken = min(account.balance - account.held, deposit.moved ?? deposit.amount)
  account.balance -= taken
  Object.assign(deposit, { status: 'reversed', loss: deposit.amount - taken })
}

function isDeep(m: Model, { account, amount, block }: ModelDeposit, chain: SimChain): boolean {
  if (block <= chain.finalized()) return true
  if (amount > bounds.late) return false
  if (block <= chain.safe()) return true
  const day = dayOf(chain, block)
  const others = [...m.deposits.values()].filter(
    (one) => one.account === account && one.day === day && /credited|final/.test(one.status),
  )
  const today = others.reduce((sum, one) => sum + one.amount, 0n)
  return block <= chain.latest() - 20 && today + amount <= bounds.soft
}

function credit(m: Model, deposit: ModelDeposit, chain: SimChain): void {
  accountIn(m, deposit.account).balance += deposit.amount - deposit.loss
  Object.assign(deposit, { status: 'credited', loss: 0n, day: dayOf(chain, deposit.block) })
}

const dayOf = (chain: SimChain, block: number): number => {
  const at = chain.timeOf(block)
  return at - (at % dayMs)
}
