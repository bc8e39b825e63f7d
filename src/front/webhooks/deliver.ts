/** The job that delivers events: routes them to subscribed endpoints, sends due deliveries. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Lease } from '../../storage/db/lease.ts'
import type { DeliveryRow, WebhookRow } from '../../storage/db/schema.ts'
import { messageOf } from './message.ts'
import { secretsOf } from './secrets.ts'
import { signedHeaders } from './sign.ts'
import type { Outcome } from './store/outcomes.ts'
import type { Due } from './store.ts'
import { isDelivered, nextTry, sentAtOnce, type Tried, triedForMs } from './webhook.ts'

export type DeliverNeeds = Pick<
  Deps,
  | 'webhooks'
  | 'clock'
  | 'log'
  | 'postChecked'
  | 'webhookSecrets'
  | 'settings'
  | 'version'
  | 'meters'
>

/** Concurrent deliveries of all endpoints. */
const inFlightMost = 64
/** Due deliveries read at once: more than are sent, because busy endpoints are skipped. */
const lookedAt = 256
/** How often the lease is renewed while there is work, in ms. */
const renewMs = 3000
/** How often old deliveries are deleted, in ms. */
const pruneMs = 60_000

/**
 * Only the node with the lease delivers. It sends an event until the endpoint accepts it, with the
 * same id and body: at least once, and in order within a subject. An attempt that a stop or a crash
 * cut off is repeated.
 */
export function deliverer(deps: DeliverNeeds): (ending: AbortSignal) => Promise<void> {
  const { webhooks, clock } = deps
  const flying = new Map<string, string>()
  // A list that is being read may still contain deliveries that ended meanwhile: skip them.
  const endedMeanwhile = new Set<string>()
  let reading = 0
  let lease: Lease | undefined
  let renewedAt = Number.NEGATIVE_INFINITY
  let prunedAt = Number.NEGATIVE_INFINITY

  const hold = async (): Promise<Lease | undefined> => {
    const now = clock.monotonic()
    if (lease && now - renewedAt < renewMs) return lease
    lease = await webhooks.takeLease()
    renewedAt = now
    return lease
  }

  const launch = (due: Due, ending: AbortSignal): void => {
    const { delivery, webhook } = due
    flying.set(delivery.id, webhook.id)
    sendOne(deps, due, ending)
      .catch((error: unknown) => {
        if (!ending.aborted) deps.log.error('webhook.not_settled', error, { delivery: delivery.id })
      })
      .finally(() => {
        flying.delete(delivery.id)
        if (reading > 0) endedMeanwhile.add(delivery.id)
        // Sends its next delivery at once, not at the next tick.
        if (!ending.aborted) void pump(ending).catch(() => {})
      })
  }

  const pump = async (ending: AbortSignal): Promise<void> => {
    if (!lease || flying.size >= inFlightMost) return
    reading++
    try {
      for (const due of await webhooks.due(clock.now(), lookedAt)) {
        if (ending.aborted || flying.size >= inFlightMost) return
        if (mayGo(due)) launch(due, ending)
      }
    } finally {
      reading--
      if (reading === 0) endedMeanwhile.clear()
    }
  }

  const mayGo = ({ delivery, webhook }: Due): boolean => {
    if (flying.has(delivery.id) || endedMeanwhile.has(delivery.id)) return false
    const sending = [...flying.values()].filter((id) => id === webhook.id).length
    // A failing endpoint gets one event at a time, so that it does not delay the others.
    return sending < (webhook.failingSince === null ? sentAtOnce : 1)
  }

  return async (ending) => {
    const isIdle = flying.size === 0 && !(await webhooks.hasWork(clock.now()))
    if (!isIdle) {
      const held = await hold()
      if (!held) return
      while (!ending.aborted && (await webhooks.route(held, clock.now())));
      await pump(ending)
    }
    if (clock.monotonic() - prunedAt < pruneMs) return
    prunedAt = clock.monotonic()
    if (await hold()) await webhooks.prune(clock.now())
  }
}

async function sendOne(deps: DeliverNeeds, due: Due, signal: AbortSignal): Promise<void> {
  const { clock, log, webhooks } = deps
  const tried = await attempt(deps, due, signal)
  if (signal.aborted) return
  const now = clock.now()
  const outcome = outcomeOf(due, tried, now)
  deps.meters.delivered(outcome.row.status)
  await webhooks.settle(outcome, now)
  if (!outcome.isOver) return
  const { id, accountId: account } = due.webhook
  log.warn('webhook.disabled', {
    webhook: id,
    account,
    error: tried.error ?? String(tried.httpStatus),
  })
}

/** Makes one attempt, and returns it as the page shows it. */
export async function attempt(
  deps: Pick<DeliverNeeds, 'clock' | 'postChecked' | 'webhookSecrets' | 'settings' | 'version'>,
  { event, webhook }: Due,
  signal: AbortSignal,
): Promise<Tried> {
  const { clock } = deps
  const startedAt = clock.monotonic()
  const body = messageOf(event, webhook.format)
  const secrets = secretsOf(deps, webhook, clock.now())
  // No chat checks a signature, so chat webhooks of the operator need no secret.
  if (secrets.length === 0 && (webhook.accountId !== '' || webhook.format === 'standard')) {
    return { httpStatus: null, error: 'secret_unreadable', durationMs: 0 }
  }
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Counterfoil/${deps.version.version}`,
    ...signedHeaders(secrets, { id: event.id, at: clock.now(), body }),
  }
  const posted = await deps.postChecked({
    from: webhook.id,
    url: webhook.url,
    headers,
    body,
    signal,
  })
  const durationMs = Math.round(clock.monotonic() - startedAt)
  if ('error' in posted) return { httpStatus: null, error: posted.error, durationMs }
  return { httpStatus: posted.status, error: null, durationMs }
}

/** The state of a delivery and of its endpoint after an attempt. */
export function outcomeOf({ delivery, webhook }: Due, tried: Tried, now: Millis): Outcome {
  const row: DeliveryRow = { ...delivery, ...tried, attempts: delivery.attempts + 1, triedAt: now }
  if (isDelivered(tried)) {
    const done = { ...row, status: 'delivered' as const, nextAt: null, doneAt: now }
    return { row: done, webhook: { ...webhook, failingSince: null }, isOver: false }
  }
  const failing: WebhookRow = { ...webhook, failingSince: webhook.failingSince ?? now }
  const nextAt = nextTry(row, now)
  const hasEnded = tried.httpStatus === 410
  if (nextAt !== undefined && !hasEnded) {
    // Another event failed before it: the endpoint is down, and this event is not at fault.
    const postponedTo =
      webhook.failingSince === null ? undefined : Math.min(nextAt, now + longestPostponedMs)
    return { row: { ...row, nextAt }, webhook: failing, isOver: false, postponedTo }
  }
  const failed = { ...row, status: 'failed' as const, nextAt: null, doneAt: now }
  // If another event was accepted meanwhile, the endpoint rejects this one alone.
  const isDead = now - (failing.failingSince ?? now) >= triedForMs - maxPauseMs
  return { row: failed, webhook: failing, isOver: hasEnded || isDead }
}

/** How long all events of a failing endpoint wait, in ms; then the oldest is tried again. */
const longestPostponedMs = 300_000
/** The last attempt comes at most this long before the end of the three days, in ms. */
const maxPauseMs = 12 * 3_600_000
