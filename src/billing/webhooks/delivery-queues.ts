/** The deliveries in memory, by endpoint: those read ahead, and those on their way. */
import { LRUCache } from 'lru-cache'
import type { WebhookRow } from '../../storage/db/schema/schema.ts'
import { type Flight, makePlaces } from './places.ts'
import type { DueDelivery } from './store/outbox.ts'
import { type AttemptResult, isUrgent, sentAtOnce } from './webhook.ts'

/** Concurrent deliveries of all endpoints of one account. */
const ofAccountMost = 8
/** An endpoint that takes longer, in ms, gets one event at a time. */
const slowMs = 2000
/** Endpoints that are remembered for their quick answers. */
const provenMost = 20_000

/** One endpoint. It lives while anything of it is in memory. */
export type DeliveryQueue = {
  /** As it was when it was last read. */
  webhook: WebhookRow
  /** Whether its account ever had money. */
  isFunded: boolean
  /** Read and not sent yet: urgent ones, then the oldest first. */
  queue: DueDelivery[]
  /** In the order of their starts. */
  flights: Set<Flight>
  /** All that was due when it was last read is in memory. */
  isWhole: boolean
}

export function makeDeliveryQueues(now: () => number) {
  const lanes = new Map<string, DeliveryQueue>()
  const places = makePlaces(now)
  /** Endpoints whose last answer came in time. One that is forgotten proves itself again. */
  const proven = new LRUCache<string, true>({ maxSize: provenMost, sizeCalculation: () => 1 })
  /** Messages on their way, by account. Endpoints of the operator are not counted together. */
  const ofAccount = new Map<string, number>()

  /** Whether its last answer came in time, and none is late now. */
  const isProven = ({ webhook, flights }: DeliveryQueue): boolean => {
    const [oldest] = flights
    const isLate = oldest !== undefined && now() - oldest.startedAt > slowMs
    return !isLate && proven.has(webhook.id)
  }

  /** A failing, slow or new endpoint gets one event at a time, so that it does not delay others. */
  const mostOf = (lane: DeliveryQueue): number =>
    lane.webhook.failingSince === null && isProven(lane) ? sentAtOnce : 1

  const isAccountFull = (account: string, most = ofAccountMost): boolean =>
    (ofAccount.get(account) ?? 0) >= most

  const count = ({ accountId }: WebhookRow, change: number): void => {
    if (accountId === '') return
    const now = (ofAccount.get(accountId) ?? 0) + change
    if (now === 0) ofAccount.delete(accountId)
    else ofAccount.set(accountId, now)
  }

  const open = ({
    webhook,
    isFunded,
  }: Pick<DeliveryQueue, 'webhook' | 'isFunded'>): DeliveryQueue => {
    const known = lanes.get(webhook.id)
    if (known) return known
    const lane: DeliveryQueue = { webhook, isFunded, queue: [], flights: new Set(), isWhole: false }
    lanes.set(webhook.id, lane)
    return lane
  }

  const close = (lane: DeliveryQueue): void => {
    if (lane.flights.size === 0 && lane.queue.length === 0) lanes.delete(lane.webhook.id)
  }

  const isBusy = (lane: DeliveryQueue): boolean =>
    lane.queue.length > 0 || (lane.flights.size > 0 && mostOf(lane) === 1)

  /** Whether it has an urgent event in memory: the next one is read after that. */
  const isHurrying = ({ queue, flights }: DeliveryQueue): boolean => {
    const [next] = queue
    return (next && isUrgent(next.delivery)) || flights.values().some((one) => one.isUrgent)
  }

  return {
    get flying() {
      return places.flying
    },
    /** Whether an attempt to some endpoint could start now. */
    hasRoom(): boolean {
      places.relieve()
      return places.hasRoom
    },
    /** Queues with a waiting event: urgent ones, then those of funded accounts, then the others. */
    queued: (): DeliveryQueue[] => {
      const ranks: DeliveryQueue[][] = [[], [], []]
      for (const lane of lanes.values()) {
        const [next] = lane.queue
        if (next) ranks[isUrgent(next.delivery) ? 0 : lane.isFunded ? 1 : 2]?.push(lane)
      }
      return ranks.flat()
    },
    /**
     * Endpoints and accounts that take nothing more now, so that they do not hide the others, and
     * how many messages of other endpoints are on their way. `hurrying` are those that take no more
     * urgent events.
     */
    busy: () => {
      const hooks = new Set<string>()
      const hurrying = { hooks: new Set<string>(), accounts: new Set<string>() }
      let others = 0
      for (const [id, lane] of lanes) {
        if (isBusy(lane)) hooks.add(id)
        else others += lane.flights.size
        if (isHurrying(lane)) hurrying.hooks.add(id)
      }
      const accounts = new Set([...ofAccount.keys()].filter((one) => isAccountFull(one)))
      return { hooks, accounts, others, hurrying }
    },
    hasQueued: (account: string): boolean =>
      lanes
        .values()
        .some(({ queue, webhook }) => queue.length > 0 && webhook.accountId === account),
    /** Whether an endpoint that answered may have more to send than is in memory. */
    wantsMore: (lane: DeliveryQueue): boolean =>
      lane.queue.length === 0 && !lane.isWhole && isProven(lane),
    /** Queues a delivery that was read; false where only one at a time is wanted. */
    add(due: DueDelivery): boolean {
      const lane = open(due)
      lane.webhook = due.webhook
      lane.isFunded = due.isFunded
      const { queue, flights } = lane
      if (!isUrgent(due.delivery)) {
        if (mostOf(lane) === 1 && queue.length + flights.size > 0) return false
        queue.push(due)
        return true
      }
      // A failing endpoint gets one event at a time: few urgent ones may wait in memory for it.
      if (queue.length >= sentAtOnce && mostOf(lane) === 1) return false
      const at = queue.findIndex(({ delivery }) => !isUrgent(delivery))
      queue.splice(at < 0 ? queue.length : at, 0, due)
      return true
    },
    /** Says of the endpoints that were read, all but `skipped`, whether nothing more is due. */
    mark(isWhole: boolean, skipped: ReadonlySet<string>): void {
      for (const [id, lane] of lanes) if (!skipped.has(id)) lane.isWhole = isWhole
    },
    /** The next delivery of an endpoint that has room; it is on its way from now on. */
    take(lane: DeliveryQueue): { due: DueDelivery; flight: Flight } | undefined {
      const { webhook, queue, flights } = lane
      const [next] = queue
      if (!next) return undefined
      // An urgent event does not wait for the answer to another one.
      const urgent = isUrgent(next.delivery)
      const beside = urgent ? 1 : 0
      if (flights.size >= mostOf(lane) + beside) return undefined
      if (isAccountFull(webhook.accountId, ofAccountMost + beside)) return undefined
      const flight = places.start({ isProven: isProven(lane), isUrgent: urgent })
      if (!flight) return undefined
      queue.shift()
      flights.add(flight)
      count(webhook, 1)
      // The endpoints take turns.
      lanes.delete(webhook.id)
      lanes.set(webhook.id, lane)
      return { due: { ...next, webhook }, flight }
    },
    /** A message is over; returns the lane that it was of. */
    land(due: DueDelivery, flight: Flight, tried: AttemptResult | undefined): DeliveryQueue {
      const { webhook } = due
      const lane = open(due)
      lane.flights.delete(flight)
      places.end(flight)
      count(webhook, -1)
      const hasAnswered = tried !== undefined && tried.httpStatus !== null
      if (hasAnswered && tried.durationMs <= slowMs) proven.set(webhook.id, true)
      else proven.delete(webhook.id)
      return lane
    },
    /** Forgets what was read ahead for an endpoint; returns it. */
    clear(lane: DeliveryQueue): DueDelivery[] {
      const dropped = lane.queue
      lane.queue = []
      lane.isWhole = false
      close(lane)
      return dropped
    },
    close,
  }
}
