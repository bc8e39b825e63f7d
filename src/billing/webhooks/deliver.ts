/** The job that delivers events: routes them to subscribed endpoints, has due ones sent. */
import type { Lease } from '../../storage/db/engine/lease.ts'
import { makeSending, type SendNeeds } from './sending.ts'
import type { DeliveryTransition } from './store/outcomes.ts'

/** How often the lease is renewed while there is work, in ms. */
const renewMs = 3000
/** How often old deliveries are deleted, in ms. */
const pruneMs = 60_000
/** An endpoint is trimmed after so many deliveries ended. */
const trimAfter = 500

/**
 * Only the node with the lease delivers. It sends an event until the endpoint accepts it, with the
 * same id and body: at least once, and in order within a subject. An attempt that a stop or a crash
 * cut off is repeated, and so are those whose outcomes were not stored yet.
 */
export function deliverer(deps: SendNeeds): (ending: AbortSignal) => Promise<void> {
  const { webhooks, clock } = deps
  /** Deliveries that ended since their endpoint was trimmed. */
  const ended = new Map<string, number>()
  let sending: ReturnType<typeof makeSending> | undefined
  let lease: Lease | undefined
  let renewedAt = Number.NEGATIVE_INFINITY
  let prunedAt = Number.NEGATIVE_INFINITY
  let hasOld = false

  const hold = async (): Promise<Lease | undefined> => {
    const now = clock.monotonic()
    if (lease && now - renewedAt < renewMs) return lease
    const before = lease
    lease = await webhooks.takeLease()
    renewedAt = now
    // Another node had it meanwhile, and has sent what was read ahead here.
    if (lease?.epoch !== before?.epoch) sending?.drop()
    return lease
  }
  const isSure = (): boolean =>
    lease !== undefined && clock.monotonic() - renewedAt < webhooks.sureMs

  const onStored = ({ rows }: DeliveryTransition): void => {
    for (const { webhookId, doneAt } of rows) {
      if (doneAt !== null) ended.set(webhookId, (ended.get(webhookId) ?? 0) + 1)
    }
  }

  /** Deletes in short transactions, a few in each tick: a backlog of old rows delays nothing. */
  const prune = async (): Promise<void> => {
    const many = [...ended].filter(([, count]) => count >= trimAfter).map(([id]) => id)
    const isTime = hasOld || clock.monotonic() - prunedAt >= pruneMs
    if ((many.length === 0 && !isTime) || !(await hold())) return
    if (many.length > 0 && !(await webhooks.trim(many))) for (const id of many) ended.delete(id)
    if (!isTime) return
    prunedAt = clock.monotonic()
    hasOld = await webhooks.prune(clock.now())
  }

  return async (ending) => {
    sending ??= makeSending(deps, { isSure, onStored }, ending)
    const isIdle = sending.isIdle() && !(await webhooks.hasWork(clock.now()))
    if (!isIdle) {
      const held = await hold()
      if (!held) return
      while (!ending.aborted && (await webhooks.route(held, clock.now())));
      await sending.look()
    }
    await prune()
  }
}
