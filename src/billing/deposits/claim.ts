/** Gives deposits to other accounts: by a signed claim, or by the operator. */

import { toAccountId } from '../../access/accounts/account.ts'
import type { Visitor } from '../../access/accounts/session.ts'
import { auditOf, isSignatureOf } from '../../access/accounts/sign-in.ts'
import type { Deps } from '../../app/deps-port.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { refundRows } from '../../ledger/refund-rows.ts'
import type { AuditRow, DepositRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { moveDeposit } from './credit-deposit.ts'
import { depositRows } from './deposit-rows.ts'

/** Claims the transfers of a transaction from another wallet. */
export type Claim = {
  account: string
  /** The wallet that does it; the account's own by default. */
  actor?: string
  txHash: string
  signature: string
  visitor: Visitor
}

/** The text that the sending wallet signs. */
export const claimText = (txHash: string, account: string): string =>
  `Counterfoil: credit the deposit ${txHash.toLowerCase()} to ${toChecksumAddress(account)}`

/**
 * Gives the deposits of a transaction to the claiming account, if the sending wallet signed the
 * claim: the part that is still available, once.
 * @throws Refusal 'not_found', 'conflict', 'signature_invalid', 'chain_unavailable'
 */
export async function claimDeposits(
  deps: Pick<Deps, 'deposits' | 'ledger' | 'isContractSignature' | 'clock' | 'ids'>,
  claim: Claim,
): Promise<DepositRow[]> {
  const { account, actor = account, txHash, signature, visitor } = claim
  const rows = await deps.deposits.ofTxs([txHash.toLowerCase()])
  if (rows.length === 0) {
    refuse('not_found', {
      message:
        'No transfer of this transaction has arrived yet. Check the hash, or wait a few seconds.',
      param: 'tx_hash',
    })
  }
  const message = claimText(txHash, account)
  const signed: DepositRow[] = []
  for (const [from, theirs] of Map.groupBy(rows, (row) => row.from)) {
    const claimed = { address: from, message, signature }
    const isTheirs = (await isSignatureOf(claimed)) || (await deps.isContractSignature?.(claimed))
    if (isTheirs) signed.push(...theirs)
  }
  if (signed.length === 0) {
    refuse('signature_invalid', {
      message: 'The wallet that sent this transfer did not sign this text. Nothing was moved.',
      param: 'signature',
    })
  }
  const moved: DepositRow[] = []
  let refused: Refusal | undefined
  for (const row of signed) {
    const audit = auditOf(deps, visitor, {
      action: 'deposit.claimed',
      accountId: account,
      actor,
      subject: row.id,
    })
    try {
      moved.push(await giveDeposit(deps, row, account, audit))
    } catch (error) {
      // Some transfers may be spent or claimed already; only if none is left the claim fails.
      if (!(error instanceof Refusal)) throw error
      refused ??= error
    }
  }
  if (moved.length === 0 && refused) throw refused
  return moved
}

/**
 * Gives a deposit to an account by the operator's decision; the audit keeps the reason.
 * @throws Refusal 'not_found', 'conflict'
 */
export async function assignDeposit(
  deps: Pick<Deps, 'deposits' | 'ledger' | 'clock' | 'ids'>,
  wish: { id: string; account: string; reason: string; actor: string },
): Promise<DepositRow> {
  const row = await deps.deposits.find(wish.id)
  if (!row) return refuse('not_found', { message: 'There is no such deposit.' })
  const account = toAccountId(wish.account)
  return giveDeposit(deps, row, account, {
    id: deps.ids.make('req'),
    at: deps.clock.now(),
    actor: wish.actor,
    action: 'deposit.assigned',
    accountId: account,
    subject: row.id,
    detail: { reason: wish.reason, from: row.from },
  })
}

function giveDeposit(
  { ledger }: Pick<Deps, 'ledger'>,
  row: DepositRow,
  account: string,
  audit: AuditRow,
): Promise<DepositRow> {
  if (row.reason === 'other_shard') {
    const message =
      'The wallet that sent this transfer belongs to another shard, which credits it there. Sign ' +
      'in with that wallet.'
    return Promise.reject(new Refusal('conflict', { message }))
  }
  return ledger.post({
    account: row.from,
    to: account,
    opens: true,
    keys: [],
    isExempt: true,
    parts: [depositRows.of(row.id), refundRows.of({ account: row.from, ref: row.id })],
    decide(unit) {
      const moved = { ...moveDeposit(unit, row.id, account) }
      unit.addAudit({ ...audit, detail: { ...audit.detail, moved_nusd: String(moved.moved) } })
      return moved
    },
  })
}
