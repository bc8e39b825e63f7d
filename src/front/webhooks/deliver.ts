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

/** Concurrent deliveries of all endpoints, and of the endpoints of one account. */
const inFlightMost = 128
const ofAccountMost = 8
/** A slower endpoint gets one event at a time, in ms. */
const slowMs = 2000
/** Due deliveries read at once: more than are sent, because busy endpoints are skipped. */
const lookedAt = 256
/** How often the lease is renewed while there is work, in ms. */
const renewMs = 3000
/** The pause of a delivery after its outcome could not be stored, in ms. */
const unstoredMs = 5000
/** How often old deliveries are deleted, in ms. */
const pruneMs = 60_000

/**
 * Only the node with the lease delivers. It sends an event until the endpoint accepts it, with the
 * same id and body: at least once, and in order within a subject. An attempt that a stop or a crash
 * cut off is repeated.
 */
export function deliverer(deps: DeliverNeeds): (ending: AbortSignal) => Promise<void> {
  const { webhooks, clock } = deps
  const flying = new Map<string, WebhookRow>()
  const slow = new Set<string>()
  /** Ends of such pauses, by delivery. */
  const unstored = new Map<string, number>()
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
    flying.set(delivery.id, webhook)
    sendOne(deps, due, ending)
      .then((durationMs) => {
        if (durationMs > slowMs) slow.add(webhook.id)
        else slow.delete(webhook.id)
      })
      .catch((error: unknown) => {
        // Without a pause it would be sent in a loop while nothing can be stored.
        unstored.set(delivery.id, clock.monotonic() + unstoredMs)
        if (!ending.aborted) deps.log.error('webhook.not_settled', error, { delivery: delivery.id })
      })
      .finally(() => {
        flying.delete(delivery.id)
        if (reading > 0) endedMeanwhile.add(delivery.id)
        // Sends its next delivery at once, not at the next tick.
        if (!ending.aborted) void pump(ending).catch(() => {})
      })
  }

  const isSure = (): boolean =>
    lease !== undefined && clock.monotonic() - renewedAt < webhooks.sureMs

  const pump = async (ending: AbortSignal): Promise<void> => {
    reading++
    const busy = { hooks: new Set<string>(), accounts: new Set<string>() }
    try {
      // Reads again without busy endpoints, which must not hide the others.
      for (let isMore = true; isMore; ) {
        if (!isSure() || flying.size >= inFlightMost) return
        const found = await webhooks.due(clock.now(), { limit: lookedAt, busy })
        isMore = false
        for (const due of found) {
          if (ending.aborted || !isSure() || flying.size >= inFlightMost) return
          const { id, accountId } = due.webhook
          if (isAccountFull(accountId)) busy.accounts.add(accountId)
          else if (isFull(due.webhook)) busy.hooks.add(id)
          else if (mayGo(due)) launch(due, ending)
          else continue
          isMore = found.length === lookedAt
        }
      }
    } finally {
      reading--
      if (reading === 0) endedMeanwhile.clear()
    }
  }

  const mayGo = ({ delivery: { id } }: Due): boolean => {
    if (flying.has(id) || endedMeanwhile.has(id)) return false
    if ((unstored.get(id) ?? 0) > clock.monotonic()) return false
    unstored.delete(id)
    return true
  }

  const countFlying = (is: (webhook: WebhookRow) => boolean): number =>
    [...flying.values()].filter(is).length

  /** A failing or slow endpoint gets one event at a time, so that it does not delay the others. */
  const isFull = ({ id, failingSince }: WebhookRow): boolean => {
    const most = failingSince === null && !slow.has(id) ? sentAtOnce : 1
    return countFlying((one) => one.id === id) >= most
  }

  /** Endpoints of the operator are not counted together. */
  const isAccountFull = (account: string): boolean =>
    account !== '' && countFlying(({ accountId }) => accountId === account) >= ofAccountMost

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

/** Returns how long the endpoint took, in ms. */
async function sendOne(deps: DeliverNeeds, due: Due, signal: AbortSignal): Promise<number> {
  const { clock, log, webhooks } = deps
  const tried = await attempt(deps, due, signal)
  if (signal.aborted) return 0
  const now = clock.now()
  const outcome = outcomeOf(due, tried, now)
  deps.meters.delivered(outcome.row.status)
  await webhooks.settle(outcome, now)
  if (outcome.isOver) {
    const { id, accountId: account } = due.webhook
    const error = tried.error ?? String(tried.httpStatus)
    log.warn('webhook.disabled', { webhook: id, account, error })
  }
  return tried.durationMs
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
