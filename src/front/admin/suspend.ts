/** Suspends and resumes accounts. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { AccountRow } from '../../storage/db/schema/schema.ts'

type Needs = Pick<Deps, 'accounts' | 'ids' | 'keys' | 'ledger' | 'live'>

/** `actor` is a wallet or `operator`. */
type SuspendRequest = { account: string; reason: string; actor: string }

/**
 * Suspends an account: from the commit on it gets no hold. Its live runs stop, here at once and on
 * other nodes within two seconds, and are charged for the output they delivered.
 * @throws Refusal 'not_found', 'conflict' for the actor's own account
 */
export async function suspendAccount(deps: Needs, wish: SuspendRequest): Promise<AccountRow> {
  if (wish.account === wish.actor) {
    refuse('conflict', 'This is your own account; suspended, you could not resume it.')
  }
  const suspended = await change(deps, wish, 'suspended')
  for (const run of deps.live.all()) {
    if (run.row.accountId === wish.account) run.stop('account_suspended')
  }
  return suspended
}

/**
 * Lets a suspended account use its keys and balance again.
 * @throws Refusal 'not_found'
 */
export const resumeAccount = (deps: Needs, wish: SuspendRequest): Promise<AccountRow> =>
  change(deps, wish, 'active')

/** Sets the status; without a change it records nothing. */
async function change(
  { accounts, ids, keys, ledger }: Needs,
  { account, reason, actor }: SuspendRequest,
  status: AccountRow['status'],
): Promise<AccountRow> {
  if (!(await accounts.find(account))) refuse('not_found', 'No such account.')
  const changed = await ledger.post({
    isExempt: true,
    account,
    keys: [],
    decide(unit) {
      const row = unit.account(account)
      if (!row) throw new Error('an account that was found was not loaded')
      if (row.status === status) return { ...row }
      row.status = status
      unit.changed('account', row)
      unit.addAudit({
        id: ids.make('req'),
        at: unit.now,
        actor,
        action: status === 'active' ? 'account.resume' : 'account.suspend',
        accountId: account,
        subject: account,
        detail: { reason },
      })
      return { ...row }
    },
  })
  keys.forgetAccount(account)
  return changed
}
