/** Sends due deliveries: reads them in pages, keeps each endpoint apart, and stores outcomes. */
import type { Deps } from '../../app/deps-port.ts'
import { type AttemptNeeds, attempt } from './attempt.ts'
import { inFlightMost, type Lane, makeLanes } from './lanes.ts'
import { makeMessages } from './message.ts'
import { makeSettling } from './settling.ts'
import type { Due } from './store/outbox.ts'
import type { Ended, Settled } from './store/outcomes.ts'
import { isDelivered, type Tried } from './webhook.ts'

export type SendNeeds = AttemptNeeds & Pick<Deps, 'webhooks' | 'log' | 'meters'>

/** Due deliveries read at once. */
const pageRows = 256
/** With so many outcomes that are not stored nothing more is sent: a crash would repeat these. */
const unstoredMost = 256
/** The pause of a delivery after its outcome could not be stored, in ms. */
const unstoredMs = 5000

type Watch = {
  /** Whether this node may send: no other one can have the lease. */
  isSure: () => boolean
  /** Called with the rows of each COMMIT. */
  onStored: (settled: Settled) => void
}

export function makeSending(deps: SendNeeds, { isSure, onStored }: Watch, ending: AbortSignal) {
  const { webhooks, clock } = deps
  const lanes = makeLanes()
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

  const forget = (id: string): void => {
    known.delete(id)
    if (isReading) endedMeanwhile.add(id)
  }
  const clear = (lane: Lane): void => {
    for (const { delivery } of lanes.clear(lane)) forget(delivery.id)
  }

  const store = async (ended: Ended[]): Promise<void> => {
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

  const fly = async (due: Due): Promise<void> => {
    let tried: Tried | undefined
    try {
      tried = await attempt(deps, due, { messageOf, signal: ending })
    } catch (error) {
      paused.set(due.delivery.id, clock.monotonic() + unstoredMs)
      if (!ending.aborted) {
        deps.log.error('webhook.not_settled', error, { delivery: due.delivery.id })
      }
    }
    const lane = lanes.land(due, tried?.durationMs ?? 0)
    if (tried && !ending.aborted) settling.add({ due, tried, at: clock.now() })
    else forget(due.delivery.id)
    // The outcome of a failure postpones all that waits for its endpoint.
    if (tried && !isDelivered(tried)) clear(lane)
    const { accountId } = due.webhook
    hasMore ||= lane.queue.length === 0 && !lane.isWhole
    hasMore ||= hidden.has(accountId) && !lanes.hasQueued(accountId)
    lanes.close(lane)
    wake()
  }

  const hasRoom = (): boolean =>
    !ending.aborted && isSure() && lanes.flying < inFlightMost && settling.size < unstoredMost

  /** Returns whether anything was sent. The endpoints take turns. */
  const launch = (): boolean => {
    let hasSent = false
    for (let isMoving = true; isMoving; ) {
      isMoving = false
      for (const lane of lanes.queued()) {
        const due = hasRoom() ? lanes.take(lane) : undefined
        if (!due) continue
        isMoving = true
        void fly(due)
      }
      hasSent ||= isMoving
    }
    return hasSent
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

  const read = async (): Promise<void> => {
    for (const [id, until] of paused) if (until <= clock.monotonic()) paused.delete(id)
    // Beside those in memory that no busy endpoint hides.
    const limit = pageRows + lanes.flying + settling.size + paused.size
    const busy = lanes.busy()
    const unread = new Set(busy.hooks)
    hidden = busy.accounts
    isReading = true
    try {
      const page = await webhooks.due(clock.now(), { limit, busy })
      hasMore = page.length >= limit
      for (const due of page) {
        const { id } = due.delivery
        if (paused.has(id) || known.has(id) || endedMeanwhile.has(id)) continue
        if (lanes.add(due)) known.add(id)
        else unread.add(due.webhook.id)
      }
      lanes.mark(!hasMore, unread)
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
    while (hasMore && hasRoom()) {
      await read()
      if (!launch()) return
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
