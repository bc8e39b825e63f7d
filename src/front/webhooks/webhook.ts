/** The rules of webhooks: who may have how many, how long is tried, and what is kept. */
import type { Millis } from '../../kernel/clock.ts'
import type { DeliveryRow, EventRow, WebhookRow } from '../../storage/db/schema.ts'
import type { AccountEventType, EventType } from '../../storage/outbox/event.ts'
import { accountEvents } from '../../storage/outbox/event.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Pauses after a try that failed; the last one repeats. */
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

/** How long an event is tried, and how long an endpoint may fail before it is disabled. */
export const triedForMs = 3 * 24 * hourMs
/** How long an old secret signs beside the new one, unless told otherwise, in s. */
export const defaultOverlapSeconds = 86_400
export const maxOverlapSeconds = 604_800
/** Endpoints of one account. */
export const maxWebhooks = 20
/** Deliveries that may wait for one endpoint; what comes then is counted and dropped. */
export const maxWaiting = 10_000
/** Ended deliveries that are kept for its page, and how long. */
export const maxKept = 1000
export const keptMs = 7 * 24 * hourMs
/** Events of one endpoint that are sent at once, each of another subject; one while it fails. */
export const sentAtOnce = 8

/** When a delivery that failed is tried again; undefined when three days are over. */
export function nextTry({ attempts, since }: DeliveryRow, now: Millis): Millis | undefined {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 5000
  const next = now + pause
  return next - since > triedForMs ? undefined : next
}

/** Types of events that a new endpoint gets when it names none. */
export const defaultEvents = (Object.keys(accountEvents) as AccountEventType[]).filter(
  (type) => type !== 'run.ended',
)

/** Whether an event goes to an endpoint: not those of before it was there. */
export const wants = (
  { disabledAt, events, createdAt }: WebhookRow,
  { type, at }: EventRow,
): boolean => disabledAt === null && createdAt <= at && events.includes(type as EventType)

/** What a try came to. */
export type Tried = { httpStatus: number | null; error: string | null; durationMs: number }

export const isDelivered = ({ httpStatus }: Tried): boolean =>
  httpStatus !== null && httpStatus >= 200 && httpStatus <= 299
