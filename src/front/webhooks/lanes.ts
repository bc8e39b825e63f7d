/** The deliveries in memory, by endpoint: those read ahead, and those on their way. */
import type { WebhookRow } from '../../storage/db/schema.ts'
import type { Due } from './store/outbox.ts'
import { sentAtOnce } from './webhook.ts'

/** Concurrent deliveries of all endpoints, and of the endpoints of one account. */
export const inFlightMost = 128
const ofAccountMost = 8
/** A slower endpoint gets one event at a time, in ms. */
const slowMs = 2000

/** One endpoint. It lives while anything of it is in memory. */
export type Lane = {
  /** As it was when it was last read. */
  webhook: WebhookRow
  /** Read and not sent yet, the oldest first. */
  queue: Due[]
  flying: number
  /** All that was due when it was last read is in memory. */
  isWhole: boolean
}

export function makeLanes() {
  const lanes = new Map<string, Lane>()
  const slow = new Set<string>()
  /** Messages on their way, by account. Endpoints of the operator are not counted together. */
  const ofAccount = new Map<string, number>()
  let flying = 0

  /** A failing or slow endpoint gets one event at a time, so that it does not delay the others. */
  const mostOf = ({ id, failingSince }: WebhookRow): number =>
    failingSince === null && !slow.has(id) ? sentAtOnce : 1

  const isAccountFull = (account: string): boolean => (ofAccount.get(account) ?? 0) >= ofAccountMost

  const count = ({ accountId }: WebhookRow, change: number): void => {
    flying += change
    if (accountId === '') return
    const now = (ofAccount.get(accountId) ?? 0) + change
    if (now === 0) ofAccount.delete(accountId)
    else ofAccount.set(accountId, now)
  }

  const open = (webhook: WebhookRow): Lane => {
    const known = lanes.get(webhook.id)
    if (known) return known
    const lane: Lane = { webhook, queue: [], flying: 0, isWhole: false }
    lanes.set(webhook.id, lane)
    return lane
  }

  const close = (lane: Lane): void => {
    if (lane.flying === 0 && lane.queue.length === 0) lanes.delete(lane.webhook.id)
  }

  return {
    get flying() {
      return flying
    },
    /** Those with something to send. */
    queued: (): Lane[] => [...lanes.values()].filter(({ queue }) => queue.length > 0),
    /** Endpoints and accounts that take nothing more now, so that they do not hide the others. */
    busy: () => {
      const full = [...lanes.values()].filter(
        (lane) => lane.queue.length > 0 || (mostOf(lane.webhook) === 1 && lane.flying > 0),
      )
      return {
        hooks: new Set(full.map(({ webhook }) => webhook.id)),
        accounts: new Set([...ofAccount.keys()].filter(isAccountFull)),
      }
    },
    hasQueued: (account: string): boolean =>
      lanes
        .values()
        .some(({ queue, webhook }) => queue.length > 0 && webhook.accountId === account),
    /** Queues a delivery that was read; false where only one at a time is wanted. */
    add({ webhook, ...due }: Due): boolean {
      const lane = open(webhook)
      lane.webhook = webhook
      const most = mostOf(webhook)
      if (most === 1 && lane.queue.length + lane.flying >= most) return false
      lane.queue.push({ webhook, ...due })
      return true
    },
    /** Says of the endpoints that were read, all but `skipped`, whether nothing more is due. */
    mark(isWhole: boolean, skipped: ReadonlySet<string>): void {
      for (const [id, lane] of lanes) if (!skipped.has(id)) lane.isWhole = isWhole
    },
    /** The next delivery of an endpoint that has room; it is on its way from now on. */
    take(lane: Lane): Due | undefined {
      const { webhook, queue } = lane
      if (lane.flying >= mostOf(webhook) || isAccountFull(webhook.accountId)) return undefined
      const due = queue.shift()
      if (!due) return undefined
      lane.flying += 1
      count(webhook, 1)
      // The endpoints take turns.
      lanes.delete(webhook.id)
      lanes.set(webhook.id, lane)
      return { ...due, webhook }
    },
    /** A message is over; returns the lane that it was of. */
    land({ webhook }: Due, durationMs: number): Lane {
      const lane = open(webhook)
      lane.flying -= 1
      count(webhook, -1)
      if (durationMs > slowMs) slow.add(webhook.id)
      else slow.delete(webhook.id)
      return lane
    },
    /** Forgets what was read ahead for an endpoint; returns it. */
    clear(lane: Lane): Due[] {
      const dropped = lane.queue
      lane.queue = []
      lane.isWhole = false
      close(lane)
      return dropped
    },
    close,
  }
}
