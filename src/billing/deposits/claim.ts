import { toAccountId } from '../../access/accounts/account.ts'
import { auditOf, isSignatureOf } from '../../access/accounts/sign-in.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Nusd } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { moveDeposit, reverseRepeated } from '../../ledger/credit-deposit.ts'
import type { DepositRow } from '../../storage/db/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'

type Needs = Pick<Deps, 'deposits' | 'ledger' | 'isContractSignature' | 'clock' | 'ids'>

/** What somebody brings who says that a transfer from another wallet is theirs. */
export type Claim = {
  account: string
  txHash: string
  signature: string
  visitor: Parameters<typeof auditOf>[1]
}

/** The text that the sending wallet signs. */
export const claimText = (txHash: string, account: string): string =>
  `Counterfoil: credit the deposit ${txHash.toLowerCase()} to ${toChecksumAddress(account)}`

/**
 * Gives the deposits of a transaction to the account that claims them, if the wallet that sent them
 * signed so: what is still available, once. An account of a wallet that nobody signed in with yet
 * is theirs who hold its key.
 * @throws Refusal 'not_found', 'conflict', 'signature_invalid', 'chain_unavailable'
 */
export async function claimDeposits(deps: Needs, claim: Claim): Promise<DepositRow[]> {
  const { account, txHash, signature, visitor } = claim
  const rows = await deps.deposits.ofTxs([txHash.toLowerCase()])
  if (rows.length === 0) {
    refuse('not_found', {
      message: 'No transfer of this transaction came in yet. Check the hash, or wait some seconds.',
      param: 'tx_hash',
    })
  }
  const message = claimText(txHash, account)
  const signed: DepositRow[] = []
  for (const [from, theirs] of Map.groupBy(rows, (row) => row.from)) {
    const asked = { address: from, message, signature }
    const isTheirs = (await isSignatureOf(asked)) || (await deps.isContractSignature?.(asked))
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
      subject: row.id,
    })
    try {
      moved.push(await giveDeposit(deps, row, account, audit))
    } catch (error) {
      // Of several transfers some may be spent or claimed; only when none is left it is a no.
      if (!(error instanceof Refusal)) throw error
      refused ??= error
    }
  }
  if (moved.length === 0 && refused) throw refused
  return moved
}

/**
 * Gives a deposit to an account for a reason of the operator's, kept in the audit.
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

/**
 * Takes back the second credit of a transfer that an earlier build credited twice. Gives what could
 * not be taken and is the operator's loss; the audit keeps the reason.
 * @throws Refusal 'not_found', 'conflict'
 */
export async function reverseSecondCredit(
  deps: Pick<Deps, 'deposits' | 'ledger' | 'clock' | 'ids'>,
  wish: { id: string; reason: string; actor: string },
): Promise<Nusd> {
  const row = await deps.deposits.find(wish.id)
  if (!row) return refuse('not_found', { message: 'There is no such deposit.' })
  const { id, account } = row
  const audit = { id: deps.ids.make('req'), at: deps.clock.now(), actor: wish.actor }
  return deps.ledger.post({
    account,
    keys: [],
    deposit: id,
    decide(unit) {
      const loss = reverseRepeated(unit, id)
      const detail = { reason: wish.reason, loss_nusd: String(loss) }
      const about = { action: 'deposit.reversed', accountId: account, subject: id, detail }
      unit.addAudit({ ...audit, ...about })
      return loss
    },
  })
}

function giveDeposit(
  { ledger }: Pick<Deps, 'ledger'>,
  row: DepositRow,
  account: string,
  audit: ReturnType<typeof auditOf>,
): Promise<DepositRow> {
  return ledger.post({
    account: row.from,
    to: account,
    opens: true,
    keys: [],
    deposit: row.id,
    decide(unit) {
      const moved = { ...moveDeposit(unit, row.id, account) }
      unit.addAudit({ ...audit, detail: { ...audit.detail, moved_nusd: String(moved.moved) } })
      return moved
    },
  })
}
