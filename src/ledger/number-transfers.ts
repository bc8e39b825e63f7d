/** Numbers the movements of money of a batch. */
import { max, type Nusd } from '../kernel/money.ts'
import type { TransferRow } from '../storage/db/schema/schema.ts'
import { alertBalance, concernsBalance } from './spend-alerts.ts'
import type { NewTransfer, TrackedRows } from './unit-of-work.ts'

/**
 * Numbers the transfers of a batch within each account and computes the balance after each one from
 * the final balance. Their times never decrease, even if the clock does.
 */
export function numberTransfers(tracked: TrackedRows): TransferRow[] {
  const numbered: TransferRow[] = []
  const byAccount = Map.groupBy(tracked.added.transfers, ({ accountId }) => accountId)
  for (const [id, transfers] of byAccount) {
    const account = tracked.accounts.get(id)
    if (!account) throw new Error(`money moved of ${id}, which was not loaded`)
    let balance = transfers.reduce((rest, one) => rest - changeOf(one), account.balance)
    for (const transfer of transfers) {
      account.moves += 1
      account.movedAt = Math.max(account.movedAt, transfer.at)
      const change = changeOf(transfer)
      balance += change
      if (payments.has(transfer.kind)) account.paidIn = max((account.paidIn ?? 0n) + change, 0n)
      if (concernsBalance(account, change, balance)) {
        alertBalance(tracked, account, { change, balance, at: transfer.at })
      }
      numbered.push({ ...transfer, at: account.movedAt, seq: account.moves, balance })
    }
    tracked.written.accounts.add(account)
  }
  return numbered
}

/** Money from outside, or taken back of it: the budget of free writes follows it. */
const payments = new Set(['deposit', 'reversal', 'claim', 'grant', 'voucher'])

/** The change of the account's balance by a transfer: negative for a payment. */
export const changeOf = ({ source, target, amount }: Moved): Nusd =>
  (target === 'user' ? amount : 0n) - (source === 'user' ? amount : 0n)

type Moved = Pick<NewTransfer, 'source' | 'target' | 'amount'>
