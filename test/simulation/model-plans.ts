import { addMonths, monthAt } from '../../src/billing/plans/period.ts'

/** What an account pays for, and what it gets for it, one command after the other. */
export type ModelPlan = { plan: string; planUntil: number | null; paid: Paid | undefined }

/** A subscription that goes on; `next` follows on its period, `ends` says that nothing does. */
export type Paid = {
  plan: string
  price: bigint
  startedAt: number
  from: number
  to: number | null
  next: string | undefined
  ends: boolean
}

type Offer = { price: bigint; monthly: boolean; discountBps: bigint; maxKeys: number }

/** The plans of the configuration that the simulation runs with. */
export const offers: Record<string, Offer> = {
  free: { price: 0n, monthly: false, discountBps: 0n, maxKeys: 14 },
  builder: { price: 20_000_003n, monthly: true, discountBps: 500n, maxKeys: 20 },
  scale: { price: 500_000_007n, monthly: true, discountBps: 1_111n, maxKeys: 30 },
  flat: { price: 35_000_000n, monthly: false, discountBps: 250n, maxKeys: 16 },
}

export const offerOf = (plan: string): Offer => {
  const offer = offers[plan]
  if (!offer) throw new Error(`the model has no plan ${plan}`)
  return offer
}

export const planAt = ({ plan, planUntil }: ModelPlan, now: number): Offer =>
  offerOf(planUntil !== null && planUntil <= now ? 'free' : plan)

type Payer = ModelPlan & { balance: bigint; held: bigint }

/** What is dearer begins now, less the rest of what is paid; everything else waits for its end. */
export function judgeSubscribe(payer: Payer, plan: string, now: number): string {
  const { price, monthly } = offerOf(plan)
  const current = currentOf(payer, now)
  if (plan === (current?.plan ?? 'free')) {
    if (current) goOn(payer, current, undefined)
    return 'ok'
  }
  const runs = current !== undefined && current.to !== null && current.to > now
  if (plan === 'free') {
    if (current) cancel(payer, current)
    return 'ok'
  }
  if (runs && price <= current.price) {
    goOn(payer, current, plan)
    return 'ok'
  }
  const charge = price - restOf(current, now)
  if (payer.balance - payer.held < charge) return 'insufficient_balance'
  payer.balance -= charge
  const to = monthly ? addMonths(now, 1) : null
  const begun = { plan, price, startedAt: now, from: now, to, next: undefined, ends: false }
  Object.assign(payer, { plan, planUntil: null, paid: begun })
  return 'ok'
}

export function judgeCancel(payer: Payer, now: number): string {
  const current = currentOf(payer, now)
  if (!current) return 'conflict'
  if (!current.ends) cancel(payer, current)
  return 'ok'
}

export function judgeResume(payer: Payer, now: number): string {
  const current = currentOf(payer, now)
  if (!current) return 'conflict'
  goOn(payer, current, undefined)
  return 'ok'
}

/** What became due is paid for the month that now falls into, changed, or over. */
export function judgeRenewal(payer: Payer, now: number): void {
  const { paid } = payer
  if (!paid || paid.to === null || paid.to > now) return
  const follows = paid.ends ? 'free' : (paid.next ?? paid.plan)
  const { price, monthly } = offerOf(follows)
  if (follows === 'free' || payer.balance - payer.held < price) {
    end(payer)
    return
  }
  const month = monthAt(paid.startedAt, now)
  const period = monthly ? { from: month.start, to: month.end } : { from: paid.to, to: null }
  payer.balance -= price
  Object.assign(paid, { plan: follows, price, next: undefined, ...period })
  Object.assign(payer, { plan: follows, planUntil: null })
}

/** A cancelled one is over with its period, also before that was written down. */
function currentOf({ paid }: ModelPlan, now: number): Paid | undefined {
  return paid?.ends && paid.to !== null && paid.to <= now ? undefined : paid
}

function goOn(payer: ModelPlan, paid: Paid, next: string | undefined): void {
  Object.assign(paid, { ends: false, next })
  Object.assign(payer, { plan: paid.plan, planUntil: null })
}

function cancel(payer: ModelPlan, paid: Paid): void {
  if (paid.to === null) end(payer)
  else {
    Object.assign(paid, { ends: true, next: undefined })
    Object.assign(payer, { plan: paid.plan, planUntil: paid.to })
  }
}

const end = (payer: ModelPlan): void =>
  void Object.assign(payer, { plan: 'free', planUntil: null, paid: undefined })

function restOf(paid: Paid | undefined, now: number): bigint {
  if (!paid || paid.to === null) return 0n
  const left = Math.max(0, paid.to - Math.max(now, paid.from))
  return (paid.price * BigInt(left)) / BigInt(paid.to - paid.from)
}
