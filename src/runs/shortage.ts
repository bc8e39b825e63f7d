/** The words of a 402: what a run may cost, what is left, and the ways out. */
import { type Nusd, toUsd } from '../kernel/money.ts'
import type { RefusalDetail } from '../kernel/refusal.ts'
import { looksLikeStatus, notAStatus, toCount } from '../kernel/status-safe.ts'
import type { Shortage } from '../ledger/hold.ts'
import type { Bound } from '../models/bound.ts'
import type { Model } from '../models/model.ts'
import { affordableTokens } from './fit.ts'

/** The run that is refused. */
export type RefusedRun = {
  model: Model
  bound: Bound
  discountBps: number
  /** Whether it was to be lowered to what can be afforded. */
  fit: boolean
  /** The name that the request has for the most tokens of an answer. */
  limit: string
  depositUrl: string
}

/** Seconds to wait for runs of the same key. */
const retryAfterS = 5

/** The words, the metadata and the headers of a 402. */
export function explainShortage(shortage: Shortage, run: RefusedRun): RefusalDetail {
  const { model, bound, discountBps, depositUrl } = run
  const tokens = affordableTokens(model, bound, shortage.most, discountBps)
  const affordable = tokens !== null && isStatusCode(tokens) ? 399 : tokens
  return {
    message: `${amountsOf(shortage)} ${waysOut(shortage, run, affordable)}`,
    metadata: { max_affordable_output_tokens: affordable, top_up_url: depositUrl },
    ...(shortage.isOnlyHeld
      ? { headers: { 'x-should-retry': 'true', 'retry-after': String(retryAfterS) } }
      : {}),
  }
}

/** A program may look for a status in the whole body; fewer tokens can be run as well. */
const isStatusCode = (count: number): boolean => count >= 400 && count <= 599

function amountsOf(shortage: Shortage): string {
  const { required, room, held, resetsAt } = shortage
  const cost = `This run may cost $${roughly(required, 'up')}`
  const left = `$${roughly(room.available, 'down')}`
  const whose = nameOf(shortage)
  if (room.limitedBy === 'max_cost_per_run') {
    const limit = 'limits.max_cost_per_run_nusd, apart from its cap'
    return `${cost}, and ${whose} lets a single run cost ${left} (${limit}).`
  }
  const until = resetsAt === null ? '' : ` until ${dayOf(resetsAt)}`
  const others = held > 0n ? `, beside $${roughly(held, 'down')} held for runs that go on` : ''
  return `${cost}, and ${whose} has ${left} left${until}${others}.`
}

/** The key by its name, a key above it by its id, whose name may not be for its children. */
export function nameOf({ key, isOwn }: Pick<Shortage, 'key' | 'isOwn'>): string {
  if (!key) return 'the balance'
  return isOwn && !looksLikeStatus(key.name) ? `key ${key.name}` : `key ${key.id}`
}

function waysOut(
  { room, isOnlyHeld }: Shortage,
  { fit, limit, depositUrl }: RefusedRun,
  affordable: number | null,
): string {
  const ways = [
    ...(isOnlyHeld ? ['wait for a run of this key to end'] : []),
    ...(room.limitedBy === 'balance' ? [`deposit at ${depositUrl}`] : []),
    ...(affordable ? [`lower ${limit} to ${toCount(twoDigits(affordable))}`] : ['send less']),
    ...(affordable && !fit ? ['send X-Counterfoil-Fit: true'] : []),
    ...(room.limitedBy === 'balance'
      ? []
      : [room.limitedBy === 'max_cost_per_run' ? 'raise that limit' : 'raise the cap']),
  ]
  const last = ways.pop() ?? ''
  const all = ways.length > 1 ? `${ways.join(', ')}, or ${last}` : [...ways, last].join(' or ')
  return `${all.charAt(0).toUpperCase()}${all.slice(1)}.`
}

/** Two digits and zeros: easier to read, and never more than can be afforded. */
function twoDigits(count: number): number {
  const unit = 10 ** Math.max(0, String(count).length - 2)
  return Math.floor(count / unit) * unit
}

/** Cents, or two digits of what is below ten cents, rounded so that what lacks still lacks. */
function roughly(amount: Nusd, to: 'up' | 'down'): string {
  const digits = amount.toString().length
  const unit = 10n ** BigInt(Math.max(0, Math.min(7, digits - 2)))
  const units = to === 'up' ? (amount + unit - 1n) / unit : amount / unit
  return notAStatus(toUsd(units * unit))
}

const dayOf = (at: number): string => `${new Date(at).toUTCString().slice(0, 16)}, 00:00 UTC`
