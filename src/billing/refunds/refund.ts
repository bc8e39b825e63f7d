/**
 * Refunds of runs and deposits by the operator, each with a reason and an audit entry. They never
 * exceed their source.
 */
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import { type Nusd, toJsonInteger } from '../../kernel/money.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { creditedBalance } from '../../ledger/grant.ts'
import type { Once } from '../../ledger/once.ts'
import { noteRefunded, type RefundTotal, refundedOf, refundRows } from '../../ledger/refund-rows.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import { depositRows } from '../deposits/deposit-rows.ts'

type Needs = Pick<Deps, 'deposits' | 'ids' | 'ledger' | 'runs'>

export type RefundRequest = {
  account: string
  /** A run, or a deposit. */
  ref: string
  amount: Nusd
  reason: string
  actor: string
  once?: Once<RefundResult> | undefined
}

/**
 * Gives back the cost of a run, or takes a deposit that the operator pays back from the balance.
 * All refunds of one run or deposit together never exceed it.
 * @throws Refusal `not_found`, `conflict`, `invalid_request`
 */
export async function refund(deps: Needs, wish: RefundRequest): Promise<RefundResult> {
  const cost = await costOf(deps, wish)
  const { account, ref, amount, reason, actor, once } = wish
  const id = deps.ids.make('req')
  return deps.ledger.post({
    isExempt: true,
    account,
    keys: [],
    parts: [refundRows.of({ account, ref }), ...(cost === undefined ? [depositRows.of(ref)] : [])],
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
  { account, ref }: RefundRequest,
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

export type RefundPart = { account: string; ref: string; amount: Nusd }

/** A refund: its name in the journal, and the sum of all refunds of its run or deposit. */
export type RefundResult = { ref: string; refunded: Nusd; balance: Nusd }

/**
 * Gives back the cost of a run, or part of it. The run and the cap of its key stay unchanged.
 * @throws Refusal `conflict` beyond the cost less earlier refunds, `invalid_request`
 */
export function refundRun(unit: UnitOfWork, wish: RefundPart, cost: Nusd): RefundResult {
  const account = unit.account(wish.account)
  if (!account) throw new Error('a refund to an account that was not loaded')
  const before = assertLeft(unit, wish, cost)
  account.balance = creditedBalance(account.balance, wish.amount)
  unit.changed('account', account)
  return noteRefund(unit, wish, before, { source: 'refunds', target: 'user' })
}

/**
 * Takes an amount from the balance that the operator pays back outside of the ledger.
 * @throws Refusal `conflict` beyond the final deposit less earlier refunds, or beyond the available
 * balance; `invalid_request`, `not_found`
 */
export function refundDeposit(unit: UnitOfWork, wish: RefundPart): RefundResult {
  const row = unit.part(depositRows).byId.get(wish.ref)
  const account = unit.account(wish.account)
  if (!row || !account || row.account !== wish.account) return refuse('not_found')
  if (row.status !== 'finalized' || row.amount === null) {
    refuse('conflict', `This deposit is ${row.status}. Refund it once it is final.`)
  }
  // An account that claimed the deposit got only `moved` of it.
  const before = assertLeft(unit, wish, row.moved ?? row.amount)
  if (wish.amount > account.balance - account.held) {
    refuse('conflict', 'The available balance is less than this: the rest is spent or held.')
  }
  account.balance -= wish.amount
  unit.changed('account', account)
  return noteRefund(unit, wish, before, { source: 'user', target: 'deposits' })
}

/** Returns earlier refunds. @throws Refusal `conflict` beyond `most`, `invalid_request` */
function assertLeft(unit: UnitOfWork, wish: RefundPart, most: Nusd): RefundTotal {
  const { ref, amount } = wish
  const before = refundedOf(unit, wish)
  if (amount < 1n) {
    refuseField('amount_nusd', 'Refund at least 1 nano-USD.')
  }
  const left = most - before.total
  if (amount <= left) return before
  return refuse('conflict', {
    message: `At most ${left} nano-USD of ${ref} can still be refunded.`,
    metadata: { refundable_nusd: toJsonInteger(left) },
  })
}

type Sides = { source: 'refunds' | 'user'; target: 'deposits' | 'user' }

function noteRefund(
  unit: UnitOfWork,
  wish: RefundPart,
  before: RefundTotal,
  sides: Sides,
): RefundResult {
  const { account: accountId, amount } = wish
  const refunded = before.total + amount
  const count = before.count + 1
  noteRefunded(unit, wish, { total: refunded, count })
  const ref = `${wish.ref}/${count}`
  unit.addTransfer({ accountId, ref, kind: 'refund', ...sides, amount, at: unit.now })
  return { ref, refunded, balance: unit.account(accountId)?.balance ?? 0n }
}
