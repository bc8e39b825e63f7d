/** Sends due deliveries: reads them in pages, keeps each endpoint apart, and stores outcomes. */
import type { Deps } from '../../app/deps-port.ts'
import { deadlineIn } from '../../kernel/deadline.ts'
import { type AttemptNeeds, attempt } from './attempt.ts'
import { type DeliveryQueue, makeDeliveryQueues } from './delivery-queues.ts'
import { makeMessages } from './message.ts'
import { type Flight, lingerAfterMs } from './places.ts'
import { makeSettling } from './settling.ts'
import type { DueDelivery } from './store/outbox.ts'
import type { DeliveryTransition, EndedDelivery } from './store/outcomes.ts'
import { type AttemptResult, isDelivered } from './webhook.ts'

export type SendNeeds = AttemptNeeds & Pick<Deps, 'webhooks' | 'log' | 'meters'>

/** Due deliveries read at once. */
const pageRows = 256
/** Deliveries in memory. Beyond these, what is due stays in the database. */
const knownMost = 8192
/** With so many outcomes that are not stored nothing more is sent: a crash would repeat these. */
const unstoredMost = 256
/** The pause of a delivery after its outcome could not be stored, in ms. */
const unstoredMs = 5000

type Watch = {
  /** Whether this node may send: no other one can have the lease. */
  isSure: () => boolean
  /** Called with the rows of each COMMIT. */
  onStored: (settled: DeliveryTransition) => void
}

export function makeSending(deps: SendNeeds, { isSure, onStored }: Watch, ending: AbortSignal) {
  const { webhooks, clock } = deps
  const lanes = makeDeliveryQueues(() => clock.monotonic())
  const messageOf = makeMessages()
  /** Deliveries in memory: queued, on their way, or with an outcome that is not stored. */
  const known = new Set<string>()
  /** Ends of the pauses after outcomes that could not be stored, by delivery. */
  const paused = new Map<string, number>()
  // A page that is being read may still contain deliveries that ended meanwhile: skip them.
  const endedMeanwhile = new Set<string>()
  let isReading = false
  /** Accounts that the last pages left out, because they took nothing more. */
  let hidden: ReadonlySet<string> = new Set()
  /** Something may be due that is not in memory. */
  let hasMore = false
  let isPumping = false
  let isAskedAgain = false
  let isWoken = false
  /** A look follows when attempts on their way may have given places back. */
  let isRelieving = false

  const forget = (id: string): void => {
    known.delete(id)
    if (isReading) endedMeanwhile.add(id)
  }
  const clear = (lane: DeliveryQueue): void => {
    for (const { delivery } of lanes.clear(lane)) forget(delivery.id)
  }

  const store = async (ended: EndedDelivery[]): Promise<void> => {
    try {
      const settled = await webhooks.settle(ended, clock.now())
      for (const { status } of settled.rows) deps.meters.delivered(status)
      for (const { id, accountId: account } of settled.disabled) {
        const last = ended.findLast(({ due }) => due.webhook.id === id)?.tried
        const error = last?.error ?? String(last?.httpStatus)
        deps.log.warn('webhook.disabled', { webhook: id, account, error })
      }
      if (settled.hasReleased) lookAgain()
      onStored(settled)
    } catch (error) {
      // Without a pause they would be sent in a loop while nothing can be stored.
      const until = clock.monotonic() + unstoredMs
      for (const { due } of ended) paused.set(due.delivery.id, until)
      const [first] = ended
      const told = { delivery: first?.due.delivery.id, deliveries: ended.length }
      if (!ending.aborted) deps.log.error('webhook.not_settled', error, told)
    }
    for (const { due } of ended) forget(due.delivery.id)
    wake()
  }
  const settling = makeSettling(store)
  // Outcomes of before the end are stored, as far as the database still takes them.
  ending.addEventListener('abort', settling.flush, { once: true })

  const lookAgain = (): void => {
    hasMore = true
    lanes.mark(false, new Set())
  }

  const fly = async ({ due, flight }: { due: DueDelivery; flight: Flight }): Promise<void> => {
    let tried: AttemptResult | undefined
    try {
      tried = await attempt(deps, due, { messageOf, signal: ending })
    } catch (error) {
      paused.set(due.delivery.id, clock.monotonic() + unstoredMs)
      if (!ending.aborted) {
        deps.log.error('webhook.not_settled', error, { delivery: due.delivery.id })
      }
    }
    const lane = lanes.land(due, flight, tried)
    if (tried && !ending.aborted) settling.add({ due, tried, at: clock.now() })
    else forget(due.delivery.id)
    // The outcome of a failure postpones all that waits for its endpoint.
    if (tried && !isDelivered(tried)) clear(lane)
    const { accountId } = due.webhook
    // Others are looked for at the next tick: a look passes by all that waits for slow ones.
    hasMore ||= lanes.wantsMore(lane)
    hasMore ||= hidden.has(accountId) && !lanes.hasQueued(accountId)
    lanes.close(lane)
    wake()
  }

  const hasRoom = (): boolean =>
    !ending.aborted && isSure() && lanes.hasRoom() && settling.size < unstoredMost

  /** Returns whether anything was sent. The endpoints take turns. */
  const launch = (): boolean => {
    let hasSent = false
    for (let isMoving = true; isMoving; ) {
      isMoving = false
      for (const lane of lanes.queued()) {
        const taken = hasRoom() ? lanes.take(lane) : undefined
        if (!taken) continue
        isMoving = true
        void fly(taken)
      }
      hasSent ||= isMoving
    }
    if (!isRelieving && lanes.flying > 0 && lanes.queued().length > 0) {
      isRelieving = true
      deadlineIn(lingerAfterMs, relieve)
    }
    return hasSent
  }

  const relieve = (): void => {
    isRelieving = false
    wake()
  }

  /** Looks at the endpoints of what was read ahead: they may be changed, disabled or gone. */
  const refresh = async (): Promise<void> => {
    const queued = lanes.queued()
    if (queued.length === 0) return
    const found = await webhooks.named(queued.map(({ webhook }) => webhook.id))
    for (const lane of queued) {
      const webhook = found.get(lane.webhook.id)
      if (webhook?.disabledAt === null) lane.webhook = webhook
      else clear(lane)
    }
  }

  /** Queues what is new of a page; returns how many, and notes endpoints that take no more. */
  const queue = (page: DueDelivery[], unread: Set<string>): number => {
    let added = 0
    for (const due of page) {
      const { id } = due.delivery
      if (paused.has(id) || known.has(id) || endedMeanwhile.has(id)) continue
      if (lanes.add(due)) known.add(id)
      else unread.add(due.webhook.id)
      if (known.has(id)) added += 1
    }
    return added
  }

  /** Returns how many deliveries it read ahead. */
  const read = async (): Promise<number> => {
    for (const [id, until] of paused) if (until <= clock.monotonic()) paused.delete(id)
    const { others, hurrying, ...busy } = lanes.busy()
    // Beside those in memory that no busy endpoint hides.
    const limit = pageRows + others + settling.size + paused.size
    const unread = new Set(busy.hooks)
    hidden = busy.accounts
    isReading = true
    try {
      const now = clock.now()
      // Busy endpoints do not hide what is urgent.
      const isHiding = busy.hooks.size > 0 || busy.accounts.size > 0
      const wish = { limit: pageRows + paused.size, busy: hurrying, isUrgent: true }
      const urgent = isHiding ? queue(await webhooks.due(now, wish), unread) : 0
      const page = await webhooks.due(now, { limit, busy })
      hasMore = page.length >= limit
      const added = queue(page, unread)
      lanes.mark(!hasMore, unread)
      return urgent + added
    } finally {
      isReading = false
      endedMeanwhile.clear()
    }
  }

  /** Forgets what was read ahead: another node may have sent it meanwhile. */
  const drop = (): void => lanes.queued().forEach(clear)

  const fill = async (): Promise<void> => {
    if (!isSure()) return drop()
    await refresh()
    launch()
    // A page of endpoints that take nothing now may be before those that do.
    while (hasMore && hasRoom() && known.size < knownMost) {
      const added = await read()
      if (!launch() && added === 0) return
    }
  }

  const pump = async (): Promise<void> => {
    isAskedAgain = true
    if (isPumping) return
    isPumping = true
    try {
      for (; isAskedAgain && !ending.aborted; await fill()) isAskedAgain = false
    } finally {
      isPumping = false
    }
    if (lanes.flying === 0) settling.flush()
  }

  /** Sends more after the events of this turn, not at the next tick. */
  const wake = (): void => {
    if (isWoken || ending.aborted) return
    isWoken = true
    setImmediate(() => {
      isWoken = false
      void pump().catch(() => {})
    })
  }

  return {
    isIdle: (): boolean => known.size === 0,
    /** Sends what became due meanwhile. */
    look: (): Promise<void> => {
      lookAgain()
      return pump()
    },
    drop,
  }
}
