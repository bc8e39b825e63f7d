import { refund as refundIt } from '../../src/billing/refunds/refund.ts'
import { issueVouchers } from '../../src/billing/vouchers/issue-vouchers.ts'
import { redeemVoucher } from '../../src/billing/vouchers/redeem-voucher.ts'
import { actorOf, type Command, nodeOf, type Sim } from './command.ts'
import { aside, depositOf } from './commands-money.ts'
import { judgeRedeem, judgeRefundOfDeposit, judgeRefundOfRun, refundedOf } from './model-selling.ts'
import { nextTurn } from './world.ts'

const told = { reason: 'simulation', actor: 'simulation' }
const guesses = { assertLeft: () => undefined, count: () => undefined }

/** The operator makes a few codes; some end soon, some are one for each account. */
export function issue(sim: Sim): Command {
  const { m, random } = sim
  const node = nodeOf(sim)
  const count = 1 + random.below(4)
  const amount = BigInt(1 + random.below(2_000_000))
  const lifeMs = random.pick([60_000, 3_600_000, 30 * 86_400_000])
  const perAccount = random.below(2) === 0 ? 1 : null
  let codes: string[] = []
  const expiresAt = node.now() + lifeMs
  return {
    ...aside(node),
    kind: 'issue vouchers',
    say: `${count} of ${amount}`,
    async perform() {
      const wish = { amount, count, lifeMs, perAccount, actor: 'simulation' }
      codes = (await issueVouchers(node.deps, wish)).codes
      return 'ok'
    },
    judge() {
      const batch = { amount, expiresAt, perAccount }
      for (const code of codes) m.vouchers.set(code, { batch, by: undefined })
      return 'ok'
    },
  }
}

/** One of the newer codes, often one that was redeemed, sometimes by several at once. */
export function redeem(sim: Sim): Command | undefined {
  const { m, random } = sim
  const known = [...m.vouchers.keys()].slice(-8)
  if (known.length === 0) return undefined
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const account = random.pick(sim.accounts)
  const code = random.pick(known)
  return {
    kind: 'redeem',
    say: `${account} ${code}`,
    node,
    trace,
    isAtomic: true,
    async perform() {
      await redeemVoucher(deps, { account, code, actor: account, guesses })
    },
    judge: () => judgeRedeem(m, account, code, node.now()),
  }
}

/** Of a run or a deposit: a part, the rest, or more than is left. */
export function refund(sim: Sim): Command | undefined {
  return sim.random.below(3) === 0 ? refundDeposit(sim) : refundRun(sim)
}

function refundRun(sim: Sim): Command | undefined {
  const { m, random } = sim
  const some = [...m.refundable].filter(([, { came }]) => came > 0n)
  if (some.length === 0) return undefined
  const [ref, found] = random.pick(some.slice(-12))
  const account = random.below(12) === 0 ? random.pick(sim.accounts) : found.account
  const amount = amountOf(sim, found.came - found.refunded)
  return {
    ...refunding(sim, { account, amount, refOf: async () => ref }),
    say: `${ref} ${amount} to ${account}`,
    judge: () => judgeRefundOfRun(m, account, ref, amount),
  }
}

function refundDeposit(sim: Sim): Command | undefined {
  const { m, random } = sim
  const known = [...m.deposits.values()].filter(({ status }) => status !== 'ignored')
  const final = known.filter(({ status }) => status === 'final')
  const some = final.length > 0 && random.below(6) > 0 ? final : known
  if (some.length === 0) return undefined
  const { tx, account, amount: came, moved } = random.pick(some.slice(-6))
  const amount = amountOf(sim, (moved ?? came) - refundedOf(m, account, tx))
  const node = nodeOf(sim)
  return {
    ...refunding(sim, { account, amount, refOf: () => depositOf(node, tx) }),
    say: `${tx} ${amount} of ${account}`,
    judge: () => judgeRefundOfDeposit(m, account, tx, amount),
  }
}

type Wish = { account: string; amount: bigint; refOf: () => Promise<string> }

function refunding(sim: Sim, { account, amount, refOf }: Wish): Omit<Command, 'say' | 'judge'> {
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  return {
    kind: 'refund',
    node,
    trace,
    isAtomic: true,
    async perform() {
      const ref = await refOf()
      try {
        await refundIt(deps, { account, ref, amount, ...told })
      } finally {
        // What is refused by a look before the ledger is asked has its place now.
        if (trace.turn === -1) trace.turn = nextTurn()
      }
    },
  }
}

function amountOf({ random }: Sim, left: bigint): bigint {
  const dice = random.below(6)
  if (dice === 0) return left + 1n
  if (dice < 3 && left > 0n) return left
  return 1n + BigInt(random.below(Number(left / 2n) + 1))
}
