/** Refunds of runs and deposits by the operator, each with a reason and an audit entry. */
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import type { Nusd } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Once } from '../../ledger/once.ts'
import { type RefundMade, refundDeposit, refundRun } from '../../ledger/selling.ts'

type Needs = Pick<Deps, 'deposits' | 'ids' | 'ledger' | 'runs'>

export type Refunding = {
  account: string
  /** A run, or a deposit. */
  ref: string
  amount: Nusd
  reason: string
  actor: string
  once?: Once<RefundMade> | undefined
}

/**
 * Gives back the cost of a run, or takes a deposit that the operator pays back from the balance.
 * All refunds of one run or deposit together never exceed it.
 * @throws Refusal `not_found`, `conflict`, `invalid_request`
 */
export async function refund(deps: Needs, wish: Refunding): Promise<RefundMade> {
  const cost = await costOf(deps, wish)
  const { account, ref, amount, reason, actor, once } = wish
  const id = deps.ids.make('req')
  return deps.ledger.post({
    isExempt: true,
    account,
    keys: [],
    refundsOf: ref,
    ...(cost === undefined ? { deposit: ref } : {}),
    call: once?.scope,
    decide(unit) {
      once?.assertFirst(unit)
      const part = { account, ref, amount }
      const made = cost === undefined ? refundDeposit(unit, part) : refundRun(unit, part, cost)
      const detail = { amount_nusd: String(amount), ref: made.ref, reason }
      const about = { actor, action: 'refund', accountId: account, subject: ref, detail }
      unit.addAudit({ id, at: unit.now, ...about })
      once?.note(unit, made)
      return made
    },
  })
}

/** Returns the cost of an ended run, which never changes; undefined for a deposit. */
async function costOf(
  { deposits, runs }: Needs,
  { account, ref }: Refunding,
): Promise<Nusd | undefined> {
  if (isId('run', ref)) {
    const run = await runs.find(ref)
    if (run?.accountId !== account) return refuseRef()
    if (run.finishedAt === null) refuse('conflict', 'The run has not ended yet.')
    return run.cost
  }
  const deposit = isId('dep', ref) ? await deposits.find(ref) : undefined
  if (deposit?.account !== account) return refuseRef()
  return undefined
}

const refuseRef = (): never =>
  refuse('not_found', { message: 'The account has no such run or deposit.', param: 'ref' })
