/** Decides whether a delivery is tried again and when, and whether its endpoint is disabled. */
import type { Millis } from '../../kernel/clock.ts'
import type { DeliveryRow, WebhookRow } from '../../storage/db/schema/schema.ts'
import { type AttemptResult, isDelivered, maxTries, triedForMs } from './webhook.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Pauses after failed attempts, in ms; the last one repeats. */
const pausesMs = [
  5000,
  30_000,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  hourMs,
  2 * hourMs,
  4 * hourMs,
  8 * hourMs,
  12 * hourMs,
]

/** How long all events of a failing endpoint wait, in ms; then the oldest is tried again. */
const longestPostponedMs = 300_000
/** The last attempt comes at most this long before the end of the three days, in ms. */
const maxPauseMs = 12 * 3_600_000

/** A delivery and its endpoint as they are stored now, and whether it failed before the attempt. */
export type AttemptedDelivery = { delivery: DeliveryRow; webhook: WebhookRow; wasFailing: boolean }

/** The state after an attempt, and whether its endpoint is disabled now. */
export type Outcome = {
  row: DeliveryRow
  failingSince: Millis | null
  isOver: boolean
  /** When the other events of a failing endpoint are due again. */
  postponedTo?: Millis | undefined
}

export function outcomeOf(
  { delivery, webhook, wasFailing }: AttemptedDelivery,
  tried: AttemptResult,
  now: Millis,
): Outcome {
  const { answer = null, to = null, ...result } = tried
  const { httpStatus: status, durationMs: ms, error } = result
  const tries = [...delivery.tries, { at: now, status, ms, error, answer, to }].slice(-maxTries)
  const attempts = delivery.attempts + 1
  const row: DeliveryRow = { ...delivery, ...result, tries, attempts, triedAt: now }
  if (isDelivered(tried)) {
    const done = { ...row, status: 'delivered' as const, nextAt: null, doneAt: now }
    return { row: done, failingSince: null, isOver: false }
  }
  const failingSince = webhook.failingSince ?? now
  const nextAt = nextTry(row, now)
  const hasEnded = tried.httpStatus === 410
  if (nextAt !== undefined && !hasEnded) {
    // Another event failed before it: the endpoint is down, and this event is not at fault.
    const postponedTo = wasFailing ? Math.min(nextAt, now + longestPostponedMs) : undefined
    const waiting = { ...row, status: 'pending' as const, nextAt }
    return { row: waiting, failingSince, isOver: false, postponedTo }
  }
  const failed = { ...row, status: 'failed' as const, nextAt: null, doneAt: now }
  // If another event was accepted meanwhile, the endpoint rejects this one alone.
  const isDead = now - failingSince >= triedForMs - maxPauseMs
  return { row: failed, failingSince, isOver: hasEnded || isDead }
}

/** The time of the next attempt after a failure; undefined when three days are over. */
function nextTry({ attempts, since }: DeliveryRow, now: Millis): Millis | undefined {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 5000
  const next = now + pause
  return next - since > triedForMs ? undefined : next
}
