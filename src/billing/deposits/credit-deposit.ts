/** The rules of deposits: credit once, take back after a reorg, move to another account. */
import type { Millis } from '../../kernel/clock.ts'
import { maxNusd, min, type Nusd, toJsonInteger } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import { creditRef, depositRef } from '../../ledger/deposit-ref.ts'
import { refundedOf } from '../../ledger/refund-rows.ts'
import type { NewTransfer, UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import type { EventType, NewEvent } from '../../storage/outbox/event.ts'
import { depositRows } from './deposit-rows.ts'

/** The block that a deposit was seen in right before its state changes. */
export type SeenIn = { blockHash: string; blockTime: Millis }

/**
 * Credits a deposit to its account. Returns false if it changed meanwhile, or if the balance would
 * exceed the most an account can hold: then the deposit waits.
 */
export function creditDeposit(unit: UnitOfWork, id: string, seen: SeenIn): boolean {
  const { byId, written } = unit.part(depositRows)
  const row = byId.get(id)
  const account = row && unit.account(row.account)
  if (!row || !account || row.amount === null || row.blockHash !== seen.blockHash) return false
  if (row.status !== 'detected' && row.status !== 'confirming') return false
  // Its last credit still stands, despite its status.
  if (row.credits > row.reversals) return false
  // A deposit that returns restores what was taken back; the loss was spent already.
  const gain = row.amount - row.loss
  if (account.balance + gain > maxNusd) {
    Object.assign(row, { status: 'confirming', reason: 'balance_full' })
    written.add(row)
    return false
  }
  row.credits++
  const ref = creditRef(row)
  account.balance += gain
  unit.changed('account', account)
  move(unit, row, { ref, kind: 'deposit', source: 'deposits', target: 'user', amount: gain })
  const back = `${ref}/returned`
  move(unit, row, { ref: back, kind: 'loss', source: 'deposits', target: 'loss', amount: row.loss })
  const { blockTime } = seen
  const credited = { status: 'credited', reason: null, loss: 0n, creditedAt: unit.now, blockTime }
  written.add(Object.assign(row, credited))
  unit.addEvent(depositEvent('deposit.credited', row))
  return true
}

/**
 * Takes back a credited deposit whose block left the chain, as far as the money is still available;
 * the rest is the operator's loss. Returns the loss, or undefined if the deposit changed meanwhile.
 */
export function reverseDeposit(unit: UnitOfWork, id: string, blockHash: string): Nusd | undefined {
  const { byId, written } = unit.part(depositRows)
  const row = byId.get(id)
  const account = row && unit.account(row.account)
  if (!row || !account || row.amount === null) return undefined
  if (row.status !== 'credited' || row.blockHash !== blockHash) return undefined
  // A claim moved only what its sender had left: no more is taken from the new account.
  const taken = min(account.balance - account.held, row.moved ?? row.amount)
  const loss = row.amount - taken
  const ref = creditRef(row)
  account.balance -= taken
  unit.changed('account', account)
  move(unit, row, { ref, kind: 'reversal', source: 'user', target: 'deposits', amount: taken })
  move(unit, row, { ref, kind: 'loss', source: 'loss', target: 'deposits', amount: loss })
  row.reversals++
  written.add(Object.assign(row, { status: 'reversed', loss, creditedAt: null }))
  unit.addEvent(depositEvent('deposit.reversed', row))
  return loss
}

/**
 * Moves a deposit from its sender to another account, once: before its credit the whole deposit,
 * afterwards what is still available and was not refunded. @throws Refusal 'not_found', 'conflict'
 */
export function moveDeposit(unit: UnitOfWork, id: string, to: string): DepositRow {
  const { byId, written } = unit.part(depositRows)
  const row = byId.get(id)
  if (!row) return refuse('not_found', { message: 'There is no such deposit.' })
  const source = unit.account(row.from)
  const target = unit.account(to)
  if (row.account === to)
    refuse('conflict', { message: 'This deposit is already in that account.' })
  if (row.account !== row.from || !source || !target) {
    refuse('conflict', { message: 'This deposit was claimed or assigned before.' })
  }
  if (row.status === 'detected' || row.status === 'confirming') {
    written.add(Object.assign(row, { account: to }))
    return row
  }
  if ((row.status !== 'credited' && row.status !== 'finalized') || row.amount === null) {
    refuse('conflict', { message: `This deposit is ${row.status}, so there is nothing to move.` })
  }
  const left = row.amount - refundedOf(unit, { account: row.from, ref: row.id }).total
  const moved = min(left, source.balance - source.held)
  if (moved === 0n) refuse('conflict', 'All of this deposit is spent, held or refunded.')
  if (target.balance + moved > maxNusd) {
    refuse('conflict', {
      message: 'The balance would exceed 9,000,000 USD, the most an account can hold.',
    })
  }
  source.balance -= moved
  target.balance += moved
  unit.changed('account', source)
  unit.changed('account', target)
  const claim = { ref: depositRef(row), kind: 'claim', amount: moved } as const
  move(unit, row, { ...claim, source: 'user', target: 'deposits' })
  written.add(Object.assign(row, { account: to, moved }))
  move(unit, row, { ...claim, source: 'deposits', target: 'user' })
  return row
}

type Move = Omit<NewTransfer, 'accountId' | 'at'>

/** Adds one journal line for the deposit's account, unless the amount is zero. */
function move(unit: UnitOfWork, { account }: DepositRow, transfer: Move): void {
  if (transfer.amount > 0n) unit.addTransfer({ ...transfer, accountId: account, at: unit.now })
}

/** The event of a change of a deposit. */
export const depositEvent = (
  type: Extract<EventType, `deposit.${string}`>,
  { id, account, amount, txHash, loss }: DepositRow,
): NewEvent => ({
  type,
  account,
  subject: id,
  data: {
    deposit_id: id,
    amount_nusd: amount === null ? null : toJsonInteger(amount),
    tx_hash: txHash,
    ...(type === 'deposit.reversed' ? { loss_nusd: toJsonInteger(loss) } : {}),
  },
})
