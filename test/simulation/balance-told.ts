import type { TransferRow } from '../../src/storage/db/schema/schema.ts'

/** A `balance.low` or `balance.exhausted`, in the order of their account. */
export type ToldBalance = { type: string; at: number; data: Record<string, unknown> }

export type BalanceStory = {
  account: string
  /** Its journal, in its order. */
  transfers: readonly Pick<TransferRow, 'at' | 'balance'>[]
  told: readonly ToldBalance[]
  /** The threshold that it has had from its first transfer on. */
  low: bigint | null
  /** Whether a run was refused that needed this much. */
  wasRefused: (required: bigint) => boolean
}

/**
 * Compares the events of a balance with its journal: a fall below the threshold has one each time,
 * the end of the balance one until money comes in. A run that was refused for want of money may
 * tell that end before the balance is 0.
 */
export function balanceFaults(story: BalanceStory): string[] {
  const { account, transfers, low } = story
  const faults: string[] = []
  const left = [...story.told]
  let balance = 0n
  /** Undefined where a refusal and a credit have one moment: their order is not written down. */
  let isExhausted: boolean | undefined = false
  let creditedAt = Number.NEGATIVE_INFINITY
  const isNext = (type: string, required: boolean) =>
    left[0]?.type === type && (left[0].data['required_nusd'] != null) === required
  /** A refund of a whole run leads back to a balance that was told: a second end belongs there. */
  const takeRefusals = (later: BalanceStory['transfers'] = []) => {
    while (isNext('balance.exhausted', true) && numberIn(left[0], 'balance_nusd') === balance) {
      if (isExhausted && later.some((one) => one.balance === balance)) return
      const required = numberIn(left[0], 'required_nusd')
      if (isExhausted) faults.push(`the end of ${account} is told twice`)
      if (required <= balance) faults.push(`${account} has ${balance}, and ${required} was refused`)
      if (!story.wasRefused(required)) faults.push(`no run of ${account} needed ${required}`)
      isExhausted = left[0]?.at === creditedAt ? undefined : true
      left.shift()
    }
  }
  const take = (type: string) => {
    if (isNext(type, false) && numberIn(left[0], 'balance_nusd') === balance) left.shift()
    else faults.push(`${type} of ${account} at ${balance} is missing`)
  }
  transfers.forEach((transfer, i) => {
    takeRefusals(transfers.slice(i))
    const before = balance
    balance = transfer.balance
    if (balance > before) {
      isExhausted = false
      creditedAt = transfer.at
    }
    if (low !== null && before >= low && balance < low) take('balance.low')
    if (balance > 0n || balance > before) return
    const isTold = isNext('balance.exhausted', false)
    if (isExhausted === false || (isExhausted === undefined && isTold)) take('balance.exhausted')
    isExhausted = true
  })
  takeRefusals()
  for (const { type, data } of left) {
    faults.push(`${type} of ${account} at ${data['balance_nusd']} has no cause`)
  }
  return faults
}

const numberIn = (told: ToldBalance | undefined, name: string): bigint =>
  BigInt(String(told?.data[name] ?? -1))
